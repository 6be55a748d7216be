/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a file as a C array, at build time: embed NAME FILE. */
#include <stdio.h>

static int embed(const char *name, FILE *file)
{
	int byte, count = 0;

	printf("static const unsigned char %s[] = {", name);
	while ((byte = getc(file)) != EOF)
		printf("%s0x%02x,", count++ % 16 ? "" : "\n\t", (unsigned int)byte);
	printf("\n};\n");
	return ferror(file) || fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	FILE *file = argc == 3 ? fopen(argv[2], "rb") : NULL;
	int status;

	if (!file) {
		fprintf(stderr, "usage: embed NAME FILE\n");
		return 2;
	}
	status = embed(argv[1], file);
	fclose(file);
	return status;
}
