// iostreams; built once with libstdc++ and once with libc++.
#include "battery.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace
{

int run_cout(const char *dir)
{
	redirect(1, dir, "log");
	for (int i = 0; i < 500; i++)
		std::cout << "cout " << i << ' ' << std::setw(8) << i * 1.5
			  << '\n';
	std::cout << "endl" << std::endl;
	return 0;
}

int run_cout_unsynced(const char *dir)
{
	redirect(1, dir, "log");
	std::ios::sync_with_stdio(false);
	for (int i = 0; i < 3000; i++)
		std::cout << "not synchronised " << i << '\n';
	std::cout.flush();
	std::printf("stdio\n");
	return 0;
}

int run_cout_and_printf(const char *dir)
{
	redirect(1, dir, "log");
	for (int i = 0; i < 20; i++) {
		std::cout << "cout " << i << ' ';
		std::printf("printf %d\n", i);
	}
	return 0;
}

int run_cerr(const char *dir)
{
	redirect(2, dir, "log");
	std::cerr << "cerr " << 1 << ' ' << 2.5 << '\n';
	std::clog << "clog " << 3 << '\n';
	std::fprintf(stderr, "stdio\n");
	std::cerr << "cerr again" << std::endl;
	return 0;
}

int run_wcout(const char *dir)
{
	redirect(1, dir, "log");
	std::wcout << L"wcout " << 5 << L'\n';
	std::wcerr.flush();
	return std::wcout.good() ? 0 : 1;
}

int run_ofstream(const char *dir)
{
	std::ofstream f(path_in(dir, "log"), std::ios::app);

	for (int i = 0; i < 2000; i++)
		f << "ofstream line " << i << '\n';
	f.close();
	note("good %d", f.good());
	return 0;
}

int run_ofstream_ate(const char *dir)
{
	seed(dir, "log", "seed\n");
	std::ofstream f(path_in(dir, "log"),
		std::ios::app | std::ios::ate | std::ios::binary);

	note("tellp %ld", (long)f.tellp());
	f << "one\n" << std::flush;
	note("tellp %ld", (long)f.tellp());
	f.seekp(0);
	f << "two\n" << std::flush;
	note("tellp %ld", (long)f.tellp());
	return 0;
}

int run_ofstream_large(const char *dir)
{
	std::string block(300001, 'L');
	std::ofstream f(path_in(dir, "log"), std::ios::app);

	f << "before\n";
	f.write(block.data(), block.size());
	f << "after\n" << block << '\n';
	return 0;
}

int run_ofstream_unbuffered(const char *dir)
{
	std::ofstream f;

	f.rdbuf()->pubsetbuf(nullptr, 0);
	f.open(path_in(dir, "log"), std::ios::app);
	for (int i = 0; i < 20; i++) {
		f << "unbuffered " << i << ' ';
		seed(dir, "log", "other\n");
	}
	return 0;
}

int run_ofstream_move(const char *dir)
{
	std::ofstream a(path_in(dir, "log"), std::ios::app);
	std::ofstream b;

	a << "before the move\n";
	b = std::move(a);
	b << "after the move\n";
	std::ofstream c(path_in(dir, "other"), std::ios::app);
	b.swap(c);
	b << "swapped\n";
	c << "swapped back\n";
	return 0;
}

int run_fstream_read_back(const char *dir)
{
	std::string line;

	seed(dir, "log", "seed\n");
	std::fstream f(path_in(dir, "log"),
		std::ios::in | std::ios::out | std::ios::app);
	f << "one\n" << std::flush;
	f.seekg(0);
	while (std::getline(f, line))
		note("read back %s", line.c_str());
	f.clear();
	f << "two\n";
	return 0;
}

int run_rdbuf(const char *dir)
{
	std::ofstream f(path_in(dir, "log"), std::ios::app);
	std::streambuf *saved = std::cout.rdbuf(f.rdbuf());

	std::cout << "cout into an ofstream\n";
	std::cout.rdbuf(saved);
	std::stringstream text;
	text << "from a stringstream\n";
	f << text.rdbuf();
	return 0;
}

int run_ofstream_missing(const char *dir)
{
	std::ofstream f(path_in(dir, "no/such/log"), std::ios::app);

	note("open %d", f.is_open());
	f << "nowhere\n";
	note("bad %d", f.fail());
	return 0;
}

int run_terminate(const char *dir)
{
	redirect(2, dir, "log");
	throw std::runtime_error("nobody catches this");
}

int run_static_end(const char *dir)
{
	static std::ofstream f(path_in(dir, "log"), std::ios::app);

	f << "flushed by a static destructor\n";
	redirect(1, dir, "out");
	std::cout << "flushed by ios_base::Init\n";
	std::exit(3);
}

int run_quick_exit(const char *dir)
{
	static std::ofstream f(path_in(dir, "log"), std::ios::app);

	f << "flushed\n" << std::flush << "lost\n";
	std::quick_exit(4);
}

} // namespace

extern const struct battery_case battery_cxx[] = {
	{"cout", run_cout, 0},
	{"cout-unsynced", run_cout_unsynced, 0},
	{"cout-and-printf", run_cout_and_printf, 0},
	{"cerr", run_cerr, 0},
	{"wcout", run_wcout, 0},
	{"ofstream", run_ofstream, 0},
	{"ofstream-ate", run_ofstream_ate, 0},
	{"ofstream-large", run_ofstream_large, 0},
	{"ofstream-unbuffered", run_ofstream_unbuffered, 0},
	{"ofstream-move", run_ofstream_move, 0},
	{"fstream-read-back", run_fstream_read_back, 0},
	{"cout-rdbuf", run_rdbuf, 0},
	{"ofstream-missing", run_ofstream_missing, 0},
	{"terminate", run_terminate, 0},
	{"static-destructor", run_static_end, 0},
	{"cxx-quick-exit", run_quick_exit, 0},
	{nullptr, nullptr, 0},
};
