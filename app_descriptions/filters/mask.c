/* mask: readers of CSV see columns with each character replaced; what is stored stays as it is.
 *
 *   FOR CONTAINER acme/people DO SET mask WITH columns="2,5"
 *
 * Parameters: columns: numbers, from 1 on, separated by commas. delimiter: default a comma. character: what is seen,
 * default *. header: yes (default) or no: whether the first line has names, which stay.
 * Quotes, delimiters and ends of lines stay, so that the size is the same and ranges can be read. Within quotes, ends of
 * lines are replaced too. Bytes of UTF-8 are replaced one by one.
 */
#include "zoe_filter.h"

#define COLUMNS_MAX 1024
#define PIECE 65536

static unsigned char piece[PIECE];
static unsigned char masked[COLUMNS_MAX];
static int begun, column, in_quotes, first_line;
static unsigned char delimiter = ',', character = '*';

ZOE_ENTRY(same_size) void same_size(void) {}

static int refuse(const char *text, int length) {
    zoe_log(text, length);
    return 1;
}
#define REFUSE(text) refuse(text, sizeof(text) - 1)

static int begin(void) {
    char value[512];
    int length = zoe_metadata("columns", 7, value, sizeof value), number = 0, digits = 0;
    if (length <= 0 || length > (int)sizeof value)
        return REFUSE("columns is missing: numbers from 1 on, separated by commas");
    for (int i = 0; i <= length; i++) {
        if (i < length && value[i] >= '0' && value[i] <= '9' && number <= COLUMNS_MAX) {
            number = number * 10 + value[i] - '0';
            digits++;
        } else if ((i == length || value[i] == ',') && digits && number >= 1 && number <= COLUMNS_MAX) {
            masked[number - 1] = 1;
            number = digits = 0;
        } else {
            return REFUSE("columns has numbers from 1 to 1024, separated by commas");
        }
    }
    if ((length = zoe_metadata("delimiter", 9, value, sizeof value)) == 1)
        delimiter = (unsigned char)value[0];
    else if (length != -1)
        return REFUSE("delimiter is one character");
    if ((length = zoe_metadata("character", 9, value, sizeof value)) == 1)
        character = (unsigned char)value[0];
    else if (length != -1)
        return REFUSE("character is one character");
    length = zoe_metadata("header", 6, value, sizeof value);
    first_line = !(length == 2 && value[0] == 'n' && value[1] == 'o');
    begun = 1;
    return 0;
}

ZOE_ENTRY(transform) int transform(int last) {
    int length;
    (void)last;
    if (!begun && begin())
        return 1;
    while ((length = zoe_read(piece, PIECE)) > 0) {
        for (int i = 0; i < length; i++) {
            unsigned char c = piece[i];
            if (c == '"') {
                in_quotes = !in_quotes;
            } else if (!in_quotes && c == delimiter) {
                column++;
            } else if (!in_quotes && c == '\n') {
                column = first_line = 0;
            } else if (!first_line && column < COLUMNS_MAX && masked[column] && (in_quotes || c != '\r')) {
                piece[i] = character;
            }
        }
        zoe_write(piece, length);
    }
    return 0;
}
