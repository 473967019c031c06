/// Doubles as decimal text and back, exactly. Slow and small: hooks mostly pass
/// numbers on as they are written, and those never come here.
#include "internal.h"

// A double has at most 767 decimal digits before they end; what is beyond only
// matters by being there at all.
#define MOST_DIGITS 800
// So many bits a digit can be shifted without leaving 64.
#define MOST_SHIFT 59

/// The number 0.d1d2d3… times ten to the power of `point`.
typedef struct decimal {
    int count, point;
    bool more;  // digits other than zero were dropped at the end
    uint8_t digits[MOST_DIGITS];
} decimal;

static void drop_zeros(decimal *number) {
    while (number->count > 0 && number->digits[number->count - 1] == 0) number->count--;
    if (number->count == 0) number->point = 0;
}

/// Multiplies by two to the power of `bits`.
static void shift_left(decimal *number, unsigned bits) {
    uint64_t carry = 0;
    for (int i = number->count - 1; i >= 0; i--) {
        carry += (uint64_t)number->digits[i] << bits;
        number->digits[i] = (uint8_t)(carry % 10);
        carry /= 10;
    }
    int grown = 0;
    for (uint64_t rest = carry; rest; rest /= 10) grown++;
    int kept = number->count < MOST_DIGITS - grown ? number->count : MOST_DIGITS - grown;
    for (int i = kept; i < number->count; i++)
        if (number->digits[i]) number->more = true;
    memmove(number->digits + grown, number->digits, (size_t)kept);
    for (int i = grown - 1; i >= 0; i--) {
        number->digits[i] = (uint8_t)(carry % 10);
        carry /= 10;
    }
    number->count = kept + grown;
    number->point += grown;
    drop_zeros(number);
}

/// Divides by two to the power of `bits`.
static void shift_right(decimal *number, unsigned bits) {
    uint64_t rest = 0, mask = ((uint64_t)1 << bits) - 1;
    int from = 0, to = 0, point = number->point;
    bool leading = true;
    while (from < number->count || rest) {
        rest = rest * 10 + (from < number->count ? number->digits[from] : 0);
        from++;
        uint8_t digit = (uint8_t)(rest >> bits);
        rest &= mask;
        if (leading && digit == 0) {
            point--;
            continue;
        }
        leading = false;
        // Writing never overtakes reading: a digit goes out for each that came in.
        if (to < MOST_DIGITS)
            number->digits[to++] = digit;
        else if (digit)
            number->more = true;
    }
    number->count = to;
    number->point = point;
    drop_zeros(number);
}

static void shift(decimal *number, int bits) {
    while (bits != 0) {
        int step = bits > MOST_SHIFT ? MOST_SHIFT : bits < -MOST_SHIFT ? -MOST_SHIFT : bits;
        if (step > 0)
            shift_left(number, (unsigned)step);
        else
            shift_right(number, (unsigned)-step);
        bits -= step;
    }
}

/// Says whether what comes after the first `kept` digits rounds up, halves to even.
static bool rounds_up(const decimal *number, int kept) {
    if (kept < 0 || kept >= number->count) return false;
    bool half = number->digits[kept] == 5 && kept + 1 == number->count && !number->more;
    if (half) return kept > 0 && number->digits[kept - 1] % 2 == 1;
    return number->digits[kept] >= 5;
}

static void round_to(decimal *number, int kept) {
    if (kept >= number->count) return;
    bool up = rounds_up(number, kept);
    number->count = kept;
    number->more = false;
    while (up && kept > 0) {
        up = ++number->digits[kept - 1] == 10;
        if (up) number->count = --kept;
    }
    if (up) {
        number->digits[0] = 1;
        number->count = 1;
        number->point++;
    }
    drop_zeros(number);
}

/// Returns the nearest whole number.
static uint64_t rounded(const decimal *number) {
    uint64_t whole = 0;
    for (int i = 0; i < number->point; i++)
        whole = whole * 10 + (i < number->count ? number->digits[i] : 0);
    return whole + rounds_up(number, number->point);
}

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define INFINITE ((uint64_t)0x7FF << 52)

/// Returns the nearest double; the number is used up.
static double to_double(decimal *number) {
    // How many bits a number with so many digits can be shifted down and not go below 1/10.
    static const int steps[] = {1, 3, 6, 9, 13, 16, 19, 23, 26};
    int exponent = 0;
    if (number->count == 0 || number->point < -400) return 0;
    if (number->point > 400) return from_bits(INFINITE);
    while (number->point > 0) {
        int step = number->point > 8 ? 27 : steps[number->point];
        shift(number, -step);
        exponent += step;
    }
    while (number->point < 0 || number->digits[0] < 5) {
        int step = number->point < -8 ? 27 : steps[-number->point];
        shift(number, step);
        exponent -= step;
    }
    // Now it is at least 1/2 and less than 1; doubles start at 1.
    exponent--;
    if (exponent < -1022) {
        shift(number, exponent + 1022);
        exponent = -1022;
    }
    shift(number, 53);
    uint64_t mantissa = rounded(number);
    if (mantissa == (uint64_t)1 << 53) {
        mantissa >>= 1;
        exponent++;
    }
    if (exponent > 1023) return from_bits(INFINITE);
    uint64_t hidden = (uint64_t)1 << 52;
    uint64_t biased = mantissa & hidden ? (uint64_t)(exponent + 1023) : 0;
    return from_bits(biased << 52 | (mantissa & (hidden - 1)));
}

/// Reads an exponent. One of more than some digits is as good as without end.
static int read_exponent(hb_str digits) {
    int exponent = 0;
    bool negative = hb_starts_with(digits, "-");
    for (size_t i = negative || hb_starts_with(digits, "+"); i < digits.len; i++)
        if (exponent < 100000000) exponent = exponent * 10 + (digits.ptr[i] - '0');
    return negative ? -exponent : exponent;
}

double hb_double_from_text(hb_str text) {
    decimal number = {.count = 0};
    bool negative = hb_starts_with(text, "-"), fraction = false;
    int64_t point = 0;
    size_t at = negative;
    for (; at < text.len && text.ptr[at] != 'e' && text.ptr[at] != 'E'; at++) {
        if (text.ptr[at] == '.') {
            fraction = true;
            continue;
        }
        uint8_t digit = (uint8_t)(text.ptr[at] - '0');
        bool leading = number.count == 0 && digit == 0;
        if (!leading && number.count < MOST_DIGITS)
            number.digits[number.count++] = digit;
        else if (digit)
            number.more = true;
        if (!fraction && !leading) point++;
        if (fraction && leading) point--;
    }
    if (at < text.len) point += read_exponent(hb_slice(text, at + 1, text.len));
    number.point = point > 1000 ? 1000 : point < -1000 ? -1000 : (int)point;
    drop_zeros(&number);
    double value = to_double(&number);
    return negative ? -value : value;
}

/// Takes a positive double apart without loss.
static decimal exact(double value) {
    decimal number = {.count = 0};
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(bits >> 52);
    if (exponent > 0)
        mantissa |= (uint64_t)1 << 52;
    else
        exponent = 1;
    for (uint64_t rest = mantissa; rest; rest /= 10) number.count++;
    number.point = number.count;
    for (int i = number.count - 1; i >= 0; i--) {
        number.digits[i] = (uint8_t)(mantissa % 10);
        mantissa /= 10;
    }
    drop_zeros(&number);
    shift(&number, exponent - 1023 - 52);
    return number;
}

static size_t write_digits(char *to, const decimal *number, int from, int end) {
    size_t written = 0;
    for (int i = from; i < end; i++)
        to[written++] = (char)('0' + (i >= 0 && i < number->count ? number->digits[i] : 0));
    return written;
}

static size_t write_decimal(char *to, const decimal *number) {
    int point = number->point;
    bool plain = point > -5 && point <= 17;
    int whole = plain ? (point > 0 ? point : 1) : 1;
    int shown = plain ? point : 1;  // how many digits stand before the dot
    size_t at = write_digits(to, number, shown - whole, shown);
    to[at++] = '.';
    int last = number->count > shown ? number->count : shown + 1;
    at += write_digits(to + at, number, shown, last);
    if (plain) return at;
    int exponent = point - 1;
    to[at++] = 'e';
    if (exponent < 0) to[at++] = '-';
    if (exponent < 0) exponent = -exponent;
    if (exponent >= 100) to[at++] = (char)('0' + exponent / 100);
    if (exponent >= 10) to[at++] = (char)('0' + exponent / 10 % 10);
    to[at++] = (char)('0' + exponent % 10);
    return at;
}

size_t hb_double_to_text(double value, char *to) {
    size_t sign = 0;
    if (__builtin_signbit(value)) {
        to[sign++] = '-';
        value = -value;
    }
    decimal number = exact(value);
    // Seventeen digits are enough for any double, and most need fewer.
    for (int kept = 1; kept < 17; kept++) {
        decimal shorter = number, tried;
        round_to(&shorter, kept);
        tried = shorter;
        if (to_double(&tried) == value) return sign + write_decimal(to + sign, &shorter);
    }
    round_to(&number, 17);
    return sign + write_decimal(to + sign, &number);
}
