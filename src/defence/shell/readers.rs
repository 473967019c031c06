//! Programs that only read, and may therefore name what is protected.

use super::marks;

/// Programs that only read, whatever they are told.
const READERS: &[&str] = &[
    "cat",
    "head",
    "tail",
    "more",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "ls",
    "ll",
    "exa",
    "eza",
    "stat",
    "wc",
    "diff",
    "cmp",
    "comm",
    "file",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "md5sum",
    "md5",
    "b2sum",
    "cksum",
    "sum",
    "nl",
    "od",
    "hexdump",
    "hd",
    "strings",
    "readlink",
    "realpath",
    "basename",
    "dirname",
    "du",
    "df",
    "test",
    "[",
    "[[",
    "echo",
    "printf",
    "pwd",
    "which",
    "whereis",
    "type",
    "true",
    "false",
    ":",
    "cut",
    "paste",
    "join",
    "fold",
    "fmt",
    "tac",
    "rev",
    "tr",
    "jq",
    "zcat",
    "bzcat",
    "xzcat",
    "base64",
    "base32",
    "column",
    "expand",
    "unexpand",
    "sleep",
    "seq",
    "whoami",
    "id",
    "uname",
    "hostname",
    "getfacl",
    "lsattr",
    "namei",
    "lsof",
    "fuser",
    "pgrep",
    "pidof",
    "ps",
    "tokei",
    "cloc",
    "scc",
    "difft",
    "delta",
    "colordiff",
    "exit",
    "return",
    "break",
    "continue",
    "wait",
    "printenv",
    "let",
    "shift",
    "jobs",
    "mdls",
    "glow",
    "mdcat",
    "shellcheck",
    "hadolint",
    "taplo-check",
    "cd",
    "iconv",
    // PowerShell and cmd
    "get-content",
    "gc",
    "get-childitem",
    "gci",
    "dir",
    "select-string",
    "sls",
    "test-path",
    "get-item",
    "gi",
    "write-host",
    "write-output",
    "measure-object",
    "resolve-path",
    "get-filehash",
    "compare-object",
    "get-acl",
    "findstr",
    "format-table",
    "format-list",
    "select-object",
    "where-object",
    "sort-object",
    "out-string",
    "out-null",
    "convertfrom-json",
];

/// Says whether a command only reads, going by its words.
pub(in crate::defence) fn only_reads(name: &str, args: &[String]) -> bool {
    let has = |starts: &[&str]| has_option(args, starts);
    if READERS.contains(&name) || name.len() == 2 && name.starts_with('-') {
        return true;
    }
    match name {
        "rg" | "ag" | "ack" | "ugrep" => !has(&["--pre", "--pager", "--hostname-bin"]),
        "less" => !has(&["-o", "-O", "--log", "--LOG", "+"]),
        "bat" | "batcat" => !has(&["--pager"]),
        "tree" => !has(&["-o"]),
        "sort" => !short(args, 'o') && !has(&["--output", "--compress-program"]),
        "uniq" => operands(args) < 2,
        "xxd" => !short(args, 'r') && operands(args) < 2,
        "date" => !has(&["-s", "--set"]),
        "yq" => !short(args, 'i') && !has(&["--inplace", "--in-place"]),
        "fd" | "fdfind" => !has(&["-x", "-X", "--exec"]),
        "sed" | "gsed" => sed(args),
        "awk" | "gawk" | "mawk" | "nawk" => awk(args),
        "prettier" => has(&["--check", "-c", "-l"]) && !has(&["--write", "-w"]),
        _ => false,
    }
}

/// Says whether the words of a command are of one that only reads.
pub(in crate::defence) fn is_reader(words: &[String]) -> bool {
    let (name, args) = words.split_first().unzip();
    name.is_none_or(|name| only_reads(name, args.unwrap_or_default()))
}

fn has_option(args: &[String], starts: &[&str]) -> bool {
    args.iter()
        .any(|arg| starts.iter().any(|start| arg.starts_with(start)))
}

/// Says whether a letter is among the short options, also of several in one word.
pub(in crate::defence) fn short(args: &[String], letter: char) -> bool {
    args.iter().any(|arg| {
        let cluster = arg.starts_with('-') && !arg.starts_with("--");
        cluster && arg.contains(letter)
    })
}

fn operands(args: &[String]) -> usize {
    args.iter().filter(|arg| !arg.starts_with('-')).count()
}

/// Says whether `sed` writes nothing. Its commands `w` and `e` do, and `-i` does.
fn sed(args: &[String]) -> bool {
    let in_place = |arg: &String| {
        let cluster = arg.starts_with('-') && !arg.starts_with("--");
        // What follows `-e` and `-f` in the same word is no option.
        let options = arg.split(['e', 'f']).next().unwrap_or_default();
        arg.starts_with("--in-place") || arg.starts_with("--i") || cluster && options.contains('i')
    };
    if args.iter().any(in_place) {
        return false;
    }
    !args.iter().any(|arg| writes(&marks::plain(arg)))
}

fn writes(script: &str) -> bool {
    let chars: Vec<char> = script.chars().collect();
    chars.windows(2).enumerate().any(|(at, pair)| {
        let [command, next] = pair else {
            return false;
        };
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let alone = before.is_none_or(|c| !c.is_alphanumeric() || c.is_ascii_digit());
        let flag = before.is_some_and(|c| "/|,#gpI".contains(*c));
        matches!(command, 'w' | 'W' | 'e') && next.is_whitespace() && (alone || flag)
    })
}

/// Says whether `awk` writes nothing. A `>` may compare, but that is not looked into.
fn awk(args: &[String]) -> bool {
    let inplace = has_option(args, &["-i", "--include", "-l", "--load", "-o", "-p"]);
    let writes = |arg: &String| {
        let arg = marks::plain(arg);
        let pipes = arg.replace("||", "").contains('|');
        arg.contains('>') || pipes || arg.contains("system")
    };
    !inplace && !args.iter().any(writes)
}
