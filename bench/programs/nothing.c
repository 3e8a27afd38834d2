/* nothing: the trivial dynamic program whose start is measured. */
int main(void)
{
	return 0;
}
