/// Tests of what works without a host: texts, formats, JSON, doubles.
#include "check.h"

jmp_buf check_panic;
hb_str check_panic_message;

_Noreturn void(hb_panic)(hb_str message) {
    check_panic_message = message;
    longjmp(check_panic, 1);
}

static void texts_are_compared_and_cut(void) {
    check(hb_equal("a", "a") && !hb_equal("a", "b") && !hb_equal("a", "ab"));
    check(hb_equal(hb_span(NULL, 0), ""));
    check(hb_equal_nocase("X-Answer", "x-aNSWER") && !hb_equal_nocase("k", "\xE2\x84\xAA"));
    check(hb_starts_with("abc", "ab") && !hb_starts_with("a", "ab") && hb_starts_with("a", ""));
    check(hb_ends_with("abc", "bc") && !hb_ends_with("c", "bc") && hb_ends_with("c", ""));
    check(hb_find("aab", "ab") == 1 && hb_find("aab", "x") == HB_NONE &&
          hb_find("", "x") == HB_NONE);
    check(hb_find("x", "") == 0 && hb_contains("a\0b", "") && !hb_contains("ab", "abc"));
    check_text(hb_slice("abc", 1, 2), "b");
    check_text(hb_slice("abc", 2, 1), "");
    check_text(hb_slice("abc", 1, 99), "bc");
    check_text(hb_slice("abc", 99, 99), "");
    check_text(hb_trim(" \t\r\n a b \v\f"), "a b");
    check_text(hb_trim("   "), "");
    check_text(hb_lower("AbC\xC3\x84"), "abc\xC3\x84");
    check_text(hb_truncate("abc", 5), "abc");
    check_text(hb_truncate("a\xE2\x82\xACz", 3), "a");
    check_text(hb_truncate("a\xE2\x82\xACz", 4), "a\xE2\x82\xAC");
}

static void what_is_not_utf_8_is_replaced(void) {
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"plain", "plain"},
        {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\x80", "\xEF\xBF\xBD"},
        {"a\xC3", "a\xEF\xBF\xBD"},
        {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},                  // overlong
        {"\xE0\x80\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},  // overlong
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},  // a surrogate
        {"\xF4\x90\x80\x80z", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz"},
        {"\xFFok", "\xEF\xBF\xBDok"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_text(hb_utf8(hb_c_str(rows[i].in)), rows[i].out);
}

static void what_is_kept_is_a_copy(void) {
    char local[] = "text";
    hb_json *string = hb_new_string(local), *object = hb_new_object();
    hb_set(object, local, string);
    memset(local, 'x', 4);
    check_text(hb_write(object), "{\"text\":\"text\"}");
}

static void formats_are_written(void) {
    check_text(hb_format("plain"), "plain");
    check_text(
        hb_format("%s|%S|%d|%u|%zu|%x|%%", "a", hb_span("b\0c", 1), -5, 7u, (size_t)9, 0xBEEFu),
        "a|b|-5|7|9|beef|%");
    check_text(hb_format("%d %d", INT32_MIN, 0), "-2147483648 0");
    check_text(hb_format("%s%S", (char *)NULL, hb_span(NULL, 0)), "");
    check_panics(hb_format("%f", 1.0),
                 "hb_format: only %s, %S, %d, %u, %zu, %x and %% can be written");
    check_panics(hb_format("100%"),
                 "hb_format: only %s, %S, %d, %u, %zu, %x and %% can be written");
}

static hb_json *parsed(const char *text) {
    hb_json *value;
    hb_error error;
    if (!hb_parse(text, &value, &error)) {
        fprintf(stderr, "%s: %.*s\n", text, (int)error.message.len, error.message.ptr);
        exit(1);
    }
    return value;
}

static void json_is_written_as_it_was_read(void) {
    static const char *const same[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1.5e-7",
        "123456789012345678901234567890",
        "1E400",
        "-0.00000000000000000000000000001",
        "\"\"",
        "\"a\"",
        "[]",
        "{}",
        "[[],{}]",
        "{\"b\":1,\"a\":[1,2,{\"c\":null}]}",
        "\"\\\"\\\\\\b\\f\\n\\r\\t\"",
        "\"\\u0000\\u001f\"",
        "\"\xC3\xA4\xF0\x9F\x98\x80\"",
        "\"\\ud83d\\ude00\"",
        "{\"\\u0061\":\"\\/\"}",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        hb_json *value = parsed(same[i]);
        if (hb_kind_of(value) != HB_OBJECT) check_text(hb_write(value), same[i]);
    }
    check_text(hb_write(parsed(" { \"a\" : [ 1 , 2 ] }\r\n\t")), "{\"a\":[1,2]}");
    check_text(hb_write(parsed("{\"\\u0061\":\"\\/\"}")), "{\"a\":\"\\/\"}");
    check_text(hb_write(NULL), "null");
}

static void strings_are_unescaped_when_looked_at(void) {
    hb_json *value =
        parsed("{\"k\\u0065y\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\ud83d\\ude00\\u0000.\"}");
    hb_str text = hb_string_at(value, "key");
    check_text(text, hb_span("\"\\/\b\f\n\r\t\xC3\xA4\xF0\x9F\x98\x80\0.", 16));
    check_text(hb_write(value),
               "{\"key\":\"\\\"\\\\/\\b\\f\\n\\r\\t\xC3\xA4\xF0\x9F\x98\x80\\u0000.\"}");
}

static void lone_surrogates_become_replacement_characters(void) {
    check_text(
        hb_write(parsed("[\"\\ud800\",\"x\\udfffy\",\"\\ud800\\ud800\\udc00\",\"\\ud800\\n\"]")),
        "[\"\xEF\xBF\xBD\",\"x\xEF\xBF\xBDy\",\"\xEF\xBF\xBD\xF0\x90\x80\x80\","
        "\"\xEF\xBF\xBD\\n\"]");
}

static void what_is_not_json_is_refused(void) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "expected a value at byte 0"},
        {"  ", "expected a value at byte 2"},
        {"nul", "expected a value at byte 0"},
        {"nulll", "expected nothing more at byte 4"},
        {"1 2", "expected nothing more at byte 2"},
        {"01", "expected nothing more at byte 1"},
        {"-", "expected a digit at byte 1"},
        {"1.", "expected a digit at byte 2"},
        {"1e+", "expected a digit at byte 3"},
        {"+1", "expected a value at byte 0"},
        {".5", "expected a value at byte 0"},
        {"NaN", "expected a value at byte 0"},
        {"[1", "expected a comma or ] at byte 2"},
        {"[1,]", "expected a value at byte 3"},
        {"[1}", "expected a comma or ] at byte 2"},
        {"{\"a\"}", "expected a colon at byte 4"},
        {"{\"a\":1,}", "expected a key in quotes at byte 7"},
        {"{a:1}", "expected a key in quotes at byte 1"},
        {"{\"a\":1", "expected a comma or } at byte 6"},
        {"\"a", "expected the end of a string at byte 2"},
        {"\"\\", "expected the rest of an escape at byte 2"},
        {"\"\\x\"", "expected one of the escapes JSON has at byte 2"},
        {"\"\\u12g4\"", "expected four hexadecimal digits at byte 2"},
        {"\"\\ud800\\u\"", "expected four hexadecimal digits at byte 8"},
        {"\"\n\"", "expected an escape instead of a control character at byte 1"},
        {"\"\xFF\"", "expected UTF-8 at byte 1"},
        {"\"\xE2\x82\"", "expected UTF-8 at byte 1"},
        {"\xEF\xBB\xBF{}", "expected a value at byte 0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hb_json *value;
        hb_error error;
        check(!hb_parse(rows[i].text, &value, &error) && !value);
        check_text(error.message, rows[i].message);
        check(strcmp(error.kind, "invalid-json") == 0);
        check(!hb_parse(rows[i].text, &value, NULL));
    }
    hb_json *value;
    hb_error error;
    check(!hb_parse(hb_span("1\0", 2), &value, &error));
    check(!hb_parse(hb_span(NULL, 0), &value, &error));
}

static void nesting_ends_at_127(void) {
    char text[300] = {0};
    hb_json *value;
    hb_error error;
    memset(text, '[', 127), memset(text + 127, ']', 127);
    check(hb_parse(text, &value, &error));
    check_text(hb_write(value), text);
    memset(text, '[', 128), memset(text + 128, ']', 128);
    check(!hb_parse(text, &value, &error));
    check_text(error.message, "expected at most 127 levels at byte 128");
    hb_json *self = hb_new_array();
    hb_push(self, self);
    check_panics(hb_write(self), "a JSON value is nested more than 127 levels deep");
    check_panics((hb_push)(hb_new_array(), self),
                 "a JSON value is nested more than 127 levels deep");
}

static void values_are_found(void) {
    hb_json *value =
        parsed("{\"a\":{\"b\":[10,{\"c\":\"deep\"}]},\"n\":null,\"a.b\":1,\"d\":1,\"d\":2}");
    check_text(hb_string_at(value, "a.b.1.c"), "deep");
    check(hb_at(value, "a.b.2") == NULL && hb_at(value, "a.b.x") == NULL &&
          hb_at(value, "z.b") == NULL);
    check(hb_at(value, "a.b.-1") == NULL && hb_at(value, "a.b.99999999999") == NULL);
    check(hb_at(value, "") == NULL && hb_at(NULL, "a") == NULL);
    check(hb_string_at(value, "a").ptr == NULL && hb_string_at(value, "n").ptr == NULL);
    check(hb_get(value, "n") != NULL && hb_kind_of(hb_get(value, "n")) == HB_NULL);
    check_text(hb_digits(hb_get(value, "a.b")), "1");
    check_text(hb_digits(hb_get(value, "d")), "2");
    check(hb_count(value) == 5 && hb_count(hb_at(value, "a.b")) == 2 && hb_count(NULL) == 0);
    check(hb_get(hb_at(value, "a.b"), "0") == NULL && hb_item(value, 0) == NULL);
    hb_str keys = hb_span("", 0);
    hb_each(member, value) keys = hb_format("%S%S,", keys, hb_key(member));
    check_text(keys, "a,n,a.b,d,d,");
    check(hb_key(value).ptr == NULL && hb_key(hb_at(value, "a.b.0")).ptr == NULL);
    check(hb_is_true(parsed("true")) && !hb_is_true(parsed("false")) && !hb_is_true(parsed("1")));
}

static void integers_are_read_if_they_fit(void) {
    static const struct {
        const char *text;
        bool fits;
        int64_t number;
    } rows[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"42", true, 42},
        {"-42", true, -42},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"123456789012345678901234567890", false, 0},
        {"1.0", false, 0},
        {"1e2", false, 0},
        {"\"1\"", false, 0},
        {"null", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t number = 0;
        check(hb_to_int(parsed(rows[i].text), &number) == rows[i].fits);
        check(number == rows[i].number);
    }
    int64_t number;
    check(!hb_to_int(NULL, &number));
    check_text(hb_write(hb_new_int(INT64_MIN)), "-9223372036854775808");
}

static void doubles_are_written_in_the_fewest_digits(void) {
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {7, "7.0"},
        {2.5, "2.5"},
        {-0.1, "-0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e16, "10000000000000000.0"},
        {1e17, "1.0e17"},
        {123456.789, "123456.789"},
        {1e-5, "0.00001"},
        {1e-6, "1.0e-6"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {5e-324, "5.0e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {9007199254740993.0, "9007199254740992.0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_text(hb_write(hb_new_double(rows[i].value)), rows[i].text);
    check_text(hb_write(hb_new_double(1e308 * 10)), "null");
    hb_number real = {.is_real = true, .real = 2.5}, whole = {.integer = 7};
    check_text(hb_write(hb_new_number(real)), "2.5");
    check_text(hb_write(hb_new_number(whole)), "7");
}

static void doubles_are_read_exactly(void) {
    static const char *const rows[] = {
        "0",
        "-0",
        "1",
        "0.1",
        "123456.789",
        "1e23",
        "8.5e22",
        "9007199254740993",
        "1e308",
        "1e309",
        "-1e400",
        "2.2250738585072011e-308",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "123456789012345678901234567890",
        "0.000000000000000000000000000000000000000000000000001e50",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0e99999999999999999999",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
        "977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273"
        "854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704"
        "342711559699508093042880",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double number = 1;
        check(hb_to_double(parsed(rows[i]), &number));
        check(number == strtod(rows[i], NULL));
    }
    double number;
    check(!hb_to_double(parsed("\"1\""), &number) && !hb_to_double(NULL, &number));
}

static void values_are_built_and_changed(void) {
    hb_json *object = hb_new_object(), *list = hb_new_array();
    hb_set(object, "list", list);
    hb_push(list, hb_new_int(1));  // the value moved in, and is still the same
    hb_push(list, NULL);
    hb_set(object, "yes", hb_new_bool(true));
    hb_set(object, "text", hb_new_string("\x01\"\xFF"));
    hb_set(object, "raw", hb_new_raw("{\"big\":123456789012345678901234567890}"));
    check_text(hb_write(object),
               "{\"list\":[1,null],\"yes\":true,\"text\":\"\\u0001\\\"\xEF\xBF\xBD\","
               "\"raw\":{\"big\":123456789012345678901234567890}}");
    hb_set(object, "list", hb_new_int(2));  // in place
    check(hb_remove(object, "yes") && !hb_remove(object, "yes") && !hb_remove(NULL, "x"));
    check(hb_remove(object, "raw"));
    hb_set(object, "last", hb_new_null());
    check_text(hb_write(object), "{\"list\":2,\"text\":\"\\u0001\\\"\xEF\xBF\xBD\",\"last\":null}");
    check(hb_remove(object, "list") && hb_remove(object, "text") && hb_remove(object, "last"));
    hb_set(object, "new", hb_new_int(3));
    check_text(hb_write(object), "{\"new\":3}");
    check_panics((hb_set(hb_new_array(), "k", NULL), 0), "hb_set: not an object");
    check_panics((hb_set(NULL, "k", NULL), 0), "hb_set: not an object");
    check_panics((hb_push(hb_new_object(), NULL), 0), "hb_push: not an array");
    check_panics(hb_new_raw("{"), "hb_new_raw: expected a key in quotes at byte 1");
}

static void parts_of_a_payload_are_copied(void) {
    hb_json *payload =
        parsed("{\"name\":\"x\",\"args\":{\"\\u0070ath\":\"a\\n\",\"n\":[1,{\"t\":true}]}}");
    hb_json *made = hb_new_object();
    hb_set(made, "args", hb_get(payload, "args"));
    hb_set(made, "again", hb_get(made, "args"));
    hb_set(hb_get(made, "args"), "path", hb_new_string("b"));
    hb_set(payload, "whole", made);
    check_text(hb_write(payload),
               "{\"name\":\"x\",\"args\":{\"path\":\"a\\n\",\"n\":[1,{\"t\":true}]},"
               "\"whole\":{\"args\":{\"path\":\"b\",\"n\":[1,{\"t\":true}]},"
               "\"again\":{\"path\":\"a\\n\",\"n\":[1,{\"t\":true}]}}}");
}

static void decisions_hold_their_text(void) {
    check_text(hb_block("no").text, "no");
    check_text(hb_ask("really?").text, "really?");
    check_text(hb_modify(parsed("{ }")).text, "{}");
    check_text(hb_fail_with((hb_error){"quota", hb_c_str("too much")}).text, "quota: too much");
    check(hb_allow().ruling != 0);
}

int main(void) {
    texts_are_compared_and_cut();
    what_is_not_utf_8_is_replaced();
    what_is_kept_is_a_copy();
    formats_are_written();
    json_is_written_as_it_was_read();
    strings_are_unescaped_when_looked_at();
    lone_surrogates_become_replacement_characters();
    what_is_not_json_is_refused();
    nesting_ends_at_127();
    values_are_found();
    integers_are_read_if_they_fit();
    doubles_are_written_in_the_fewest_digits();
    doubles_are_read_exactly();
    values_are_built_and_changed();
    parts_of_a_payload_are_copied();
    decisions_hold_their_text();
    puts("ok");
}
