# lib/preload/hooks.def as the coverage table of nfsappend(7): one list for
# each way in which a function is covered, in the order of the file. Used as
#   awk -f coverage.awk hooks.def nfsappend.7.in

function section(how, title,  i) {
	print ".Ss " title
	print ".Bl -tag -width \"copy_file_range()\" -compact"
	for (i = 0; i < count[how]; i++) {
		print ".It Fn " name[how, i]
		print "\\&" text[how, i]
	}
	print ".El"
}

# HOOK(name, how, "text")
FNR == NR {
	if (/^HOOK\(/) {
		split(substr($0, 6), field, ", ")
		how = field[2]
		if (how != "hooked" && how != "watched" && how != "documented") {
			print FILENAME ":" FNR ": unknown: " how >"/dev/stderr"
			exit 1
		}
		sub(/^[^"]*"/, "")
		sub(/"\)$/, "")
		gsub(/\\/, "\\e")
		name[how, count[how] + 0] = field[1]
		text[how, count[how]++] = $0
	}
	next
}

$0 == "@COVERAGE@" {
	section("hooked", "Hooked: served by nfsappend")
	section("watched", "Watched: the kernel serves it, nfsappend keeps its books")
	section("documented", "Documented: not taken over; what happens then")
	next
}

{ print }
