#include "hone/runtime/kernels/regex.h"

#include <gtest/gtest.h>

namespace hone::runtime {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  const Result<Regex> regex = Regex::parse(pattern);
  EXPECT_TRUE(regex) << pattern << ": " << (regex ? "" : regex.error().message);
  return regex && regex->matches(text);
}

std::string message_of(std::string_view pattern) {
  const Result<Regex> regex = Regex::parse(pattern);
  return regex ? "no error" : regex.error().message;
}

TEST(Regex, MatchesTheWholeText) {
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("abc", "abc"));
  EXPECT_FALSE(matches("abc", "abcd"));
  EXPECT_FALSE(matches("abc", "xabc"));
  EXPECT_TRUE(matches("a|ab|abc", "abc"));
  EXPECT_TRUE(matches("(a|ab)(c|bcd)", "abcd"));
  EXPECT_TRUE(matches("a||b", ""));
  EXPECT_TRUE(matches(R"(www\.[\w.-]+\.com)", "www.google.com"));
  EXPECT_FALSE(matches(R"(www\.[\w.-]+\.com)", "www.google,com"));
  EXPECT_TRUE(matches(R"((\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$))", "account@gmail.com"));
}

TEST(Regex, Repeats) {
  EXPECT_TRUE(matches("a*b+c?", "aabb"));
  EXPECT_FALSE(matches("a*b+c?", "aac"));
  EXPECT_TRUE(matches("a{2}", "aa"));
  EXPECT_FALSE(matches("a{2}", "aaa"));
  EXPECT_TRUE(matches("a{2,}", "aaaaa"));
  EXPECT_TRUE(matches("(ab){1,3}", "ababab"));
  EXPECT_FALSE(matches("(ab){1,3}", "abababab"));
  EXPECT_TRUE(matches("a{0}b", "b"));
  EXPECT_TRUE(matches("a{,2}", "a{,2}"));
  EXPECT_TRUE(matches("(a*)*", "aaaa"));
  EXPECT_TRUE(matches("a+?b*?", "aab"));
}

TEST(Regex, KnowsClasses) {
  EXPECT_TRUE(matches("[a-cx]+", "abcx"));
  EXPECT_FALSE(matches("[^a-c]", "b"));
  EXPECT_TRUE(matches("[^a-c]", "d"));
  EXPECT_TRUE(matches("[]a]+", "]a"));
  EXPECT_TRUE(matches("[a-]+", "a-"));
  EXPECT_TRUE(matches(R"([\d\-_]+)", "1-_"));
  EXPECT_TRUE(matches("[[:alpha:][:digit:]]+", "aZ0"));
  EXPECT_TRUE(matches("[[:^digit:]]+", "ab "));
  EXPECT_TRUE(matches(R"(\D\S\W)", "ab."));
  EXPECT_FALSE(matches(R"(\s)", "\v"));  // as in RE2
  EXPECT_TRUE(matches(R"(\x41\x{42}\103\n\t)", "ABC\n\t"));
  EXPECT_TRUE(matches(R"(\Qa.b*\E+)", "a.b***"));
  EXPECT_TRUE(matches(R"(\Q\E\Q*)", "*"));
}

TEST(Regex, KnowsFlagsAndAssertions) {
  EXPECT_FALSE(matches("a.b", "a\nb"));
  EXPECT_TRUE(matches("(?s)a.b", "a\nb"));
  EXPECT_TRUE(matches("(?i)aBc", "AbC"));
  EXPECT_FALSE(matches("(?i:a)b", "AB"));
  EXPECT_TRUE(matches("((?i)a)b", "Ab"));
  EXPECT_TRUE(matches("(?i)ä", "Ä"));
  EXPECT_TRUE(matches("(?i)(?-i)a", "a"));
  EXPECT_TRUE(matches("^a$", "a"));
  EXPECT_FALSE(matches("a$\nb", "a\nb"));
  EXPECT_TRUE(matches("(?m)a$\n^b", "a\nb"));
  EXPECT_TRUE(matches(R"(\bfoo\b bar)", "foo bar"));
  EXPECT_FALSE(matches(R"(foo\bbar)", "foobar"));
  EXPECT_TRUE(matches(R"(foo\Bbar)", "foobar"));
  EXPECT_TRUE(matches("(?P<year>a)(?<n>b)(?:c)", "abc"));
}

TEST(Regex, ReadsCharactersAndNotBytes) {
  EXPECT_TRUE(matches(".", "ü"));
  EXPECT_TRUE(matches("..", "日本"));
  EXPECT_TRUE(matches("[α-ω]+", "λογ"));
  EXPECT_FALSE(matches(".", "\xFF"));
}

TEST(Regex, TakesTimeProportionalToTheText) {
  const std::string text(20'000, 'a');
  EXPECT_FALSE(matches("(a*)*b", text));
  EXPECT_FALSE(matches("(a|aa)+b", text));
  EXPECT_TRUE(matches("(a?){200}a*", text));
}

TEST(Regex, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(message_of("a)"), "pattern 'a)', byte 1: a ')' without its '('");
  EXPECT_EQ(message_of("(a"), "pattern '(a', byte 2: a '(' without its ')'");
  EXPECT_EQ(message_of("[a"), "pattern '[a', byte 2: a '[' without its ']'");
  EXPECT_EQ(message_of("*a"), "pattern '*a', byte 0: nothing to repeat");
  EXPECT_EQ(message_of("a**"), "pattern 'a**', byte 2: a repetition of a repetition");
  EXPECT_EQ(message_of("a{2}{3}"), "pattern 'a{2}{3}', byte 7: a repetition of a repetition");
  EXPECT_EQ(message_of("[b-a]"), "pattern '[b-a]', byte 4: a range whose end is not above its begin");
  EXPECT_EQ(message_of(R"((a)\1)"), R"(pattern '(a)\1', byte 5: references to groups are not supported)");
  EXPECT_EQ(message_of(R"(\pL)"), R"(pattern '\pL', byte 2: unknown escape '\p')");
  EXPECT_EQ(message_of("a{1001}"), "pattern 'a{1001}', byte 7: a repetition outside 0..1000, or with its ends swapped");
  EXPECT_EQ(message_of("(?z)"), "pattern '(?z)', byte 3: a group of an unknown kind");
  EXPECT_EQ(message_of("(?=a)"), "pattern '(?=a)', byte 3: a group of an unknown kind");
  EXPECT_EQ(message_of("\\"), "pattern '\\', byte 1: the pattern ends too early");
  EXPECT_EQ(message_of("((a{1000}){1000}){1000}"), "the pattern needs more than 100000 states");
  EXPECT_EQ(message_of("(((){1000}){1000}){1000}"), "the pattern repeats too much");
  EXPECT_EQ(message_of(std::string(5000, '(') + std::string(5000, ')')).substr(0, 9), "pattern '");
}

}  // namespace
}  // namespace hone::runtime
