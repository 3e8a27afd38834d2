/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FUZZ_PAGES_H
#define FUZZ_PAGES_H

void fuzz_free_pages(void);

#endif
