//! Runs the tables in `cases/` against a project on the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Protected, ToolCall, refuse};

/// A home directory with a project in it, and ways into what is protected there.
struct World {
    _folder: tempfile::TempDir,
    home: PathBuf,
    project: PathBuf,
}

/// Returns the one that all tests look at, and none changes.
fn world() -> &'static World {
    static WORLD: LazyLock<World> = LazyLock::new(World::new);
    &WORLD
}

fn write(path: PathBuf) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "x").unwrap();
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap().join("sam");
        let project = home.join("work/shop");
        for file in [
            "harness.md",
            "hookbox.toml",
            ".harness/hooks/guard.md",
            ".hookbox/lock.json",
            ".claude/settings.json",
            ".claude/hooks/check.sh",
            ".claude/skills/write.md",
            ".codex/config.toml",
            ".github/workflows/ci.yml",
            ".github/hooks/pre.json",
            "src/main.rs",
            "docs/notes.md",
            "build/out.o",
            "target/debug/shop",
            "template/.github/workflows/ci.yml",
            "evil/settings.json",
            "evil/.harness/hooks/guard.md",
        ] {
            write(project.join(file));
        }
        write(home.join(".claude/settings.json"));
        write(home.join(".config/hookbox/trust.json"));
        write(home.join(".cache/hookbox/compiled"));
        write(home.join("bin/hookbox"));
        links(&project);
        let diff =
            "--- a/.harness/hooks/guard.md\n+++ b/.harness/hooks/guard.md\n@@ -1 +1 @@\n-x\n+y\n";
        fs::write(project.join("evil.patch"), diff).unwrap();
        let diff = "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-x\n+y\n";
        fs::write(project.join("good.patch"), diff).unwrap();
        Self {
            _folder: folder,
            home,
            project,
        }
    }

    fn protected(&self) -> Protected {
        Protected::new(&self.project, Some(&self.home)).with(self.home.join("bin/hookbox"))
    }

    fn judge(&self, name: &str, args: &Value, cwd: &Path) -> Option<String> {
        let call = ToolCall { name, args, cwd };
        refuse(&self.protected(), &call).map(|refusal| refusal.to_string())
    }

    fn refuses(&self, command: &str) -> bool {
        let args = json!({ "command": command });
        self.judge("run_command", &args, &self.project).is_some()
    }

    /// Reads a line of a table: what it is about, the tool, its arguments, and perhaps where.
    fn line(&self, line: &str) -> (String, Option<String>) {
        let line = line.replace("@PROJECT@", &self.project.to_string_lossy());
        let line = line.replace("@HOME@", &self.home.to_string_lossy());
        let case: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let cwd = self.project.join(case["cwd"].as_str().unwrap_or_default());
        let (tool, args) = match case.get("run") {
            Some(command) => ("run_command", json!({ "command": command })),
            None => (case["tool"].as_str().unwrap(), case["args"].clone()),
        };
        (line, self.judge(tool, &args, &cwd))
    }
}

#[cfg(unix)]
fn links(project: &Path) {
    use std::os::unix::fs::symlink;
    symlink(".harness", project.join("rules")).unwrap();
    symlink(".", project.join("docs/up")).unwrap();
    symlink("..", project.join("docs/top")).unwrap();
    symlink(".claude/settings.local.json", project.join("nowhere")).unwrap();
    fs::hard_link(project.join("hookbox.toml"), project.join("twin.toml")).unwrap();
    let guard = project.join(".harness/hooks/guard.md");
    fs::hard_link(guard, project.join("twin.md")).unwrap();
}

#[cfg(not(unix))]
fn links(_: &Path) {}

fn table(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

#[test]
fn attacks_are_refused() {
    let world = world();
    let mut passed = Vec::new();
    let mut count = 0;
    for line in table(include_str!("cases/refused.txt")) {
        count += 1;
        let (line, refusal) = world.line(line);
        if refusal.is_none() {
            passed.push(line);
        }
    }
    assert!(passed.is_empty(), "let pass:\n{}", passed.join("\n"));
    assert!(count >= 150, "{count}");
}

#[test]
fn everyday_calls_are_allowed() {
    let world = world();
    let mut refused = Vec::new();
    let mut count = 0;
    for line in table(include_str!("cases/allowed.txt")) {
        count += 1;
        let (line, refusal) = world.line(line);
        refused.extend(refusal.map(|why| format!("{line}\n    {why}")));
    }
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
    assert!(count >= 100, "{count}");
}

#[test]
fn what_leaves_hidden_folders_out_is_allowed() {
    let world = World::new();
    for file in [
        "harness.md",
        "hookbox.toml",
        "twin.toml",
        "twin.md",
        "rules",
        "nowhere",
    ] {
        let _ = fs::remove_file(world.project.join(file));
    }
    let lines = table(include_str!("cases/hidden.txt"));
    let judged = lines.map(|line| world.line(line));
    let refused: Vec<_> = judged.filter(|(_, refusal)| refusal.is_some()).collect();
    assert!(refused.is_empty(), "refused:\n{refused:#?}");
    assert!(world.refuses("find . -name guard.md -delete"));
}

/// Writes more folders, and more files into one, than anybody looks at.
fn widen(project: &Path) {
    for outer in 0..120 {
        for inner in 0..100 {
            let folder = project.join(format!("node_modules/a{outer}/b{inner}"));
            fs::create_dir_all(folder).unwrap();
        }
    }
    fs::create_dir_all(project.join("data")).unwrap();
    for number in 0..20_000 {
        fs::write(project.join(format!("data/{number}.jpg")), "").unwrap();
    }
    for number in 0..6_000 {
        fs::write(project.join(format!(".claude/hooks/{number}.js")), "").unwrap();
    }
}

#[test]
fn many_folders_are_no_reason_to_refuse() {
    let world = World::new();
    widen(&world.project);
    let lines = table(include_str!("cases/wide.txt"));
    let judged = lines.map(|line| world.line(line));
    let refused: Vec<_> = judged.filter(|(_, refusal)| refusal.is_some()).collect();
    assert!(refused.is_empty(), "refused:\n{refused:#?}");
    assert!(world.refuses("find . -name '*.ts'; rm -rf .harness"));
}

/// Writes a word so that a shell reads the same: each letter in a way of its own.
fn respelled(word: &str, ways: &[u8]) -> String {
    let mut ways = ways.iter().cycle();
    let mut out = String::new();
    for c in word.chars() {
        let code = u32::from(c);
        let plain = c.is_ascii_alphanumeric() || "./-_=".contains(c);
        match ways.next().unwrap_or(&0) % 9 {
            _ if !plain => out.push_str(&format!("\\{c}")),
            0 => out.push_str(&format!("\\{c}")),
            1 => out.push_str(&format!("'{c}'")),
            2 => out.push_str(&format!("\"{c}\"")),
            3 => out.push_str(&format!("$'\\x{code:02x}'")),
            4 => out.push_str(&format!("$'\\{code:03o}'")),
            5 => out.push_str(&format!("''{c}\"\"")),
            6 => out.push_str(&format!("{c}\\\n")),
            7 => out.push_str(&format!("$'\\u{code:04x}'")),
            _ => out.push(c),
        }
    }
    out
}

/// Puts a command where a shell runs it all the same.
fn wrapped(command: &str, way: u8) -> String {
    let quoted = command.replace('\'', "'\\''");
    match way % 14 {
        0 => format!("sh -c '{quoted}'"),
        1 => format!("({command})"),
        2 => format!("true && {command}"),
        3 => format!("echo $({command})"),
        4 => format!("eval '{quoted}'"),
        5 => format!("{{ {command}; }}"),
        6 => format!("if true; then {command}; fi"),
        7 => format!("ls; {command} &"),
        8 => format!("sudo {command}"),
        9 => format!("env A=b {command}"),
        10 => format!("bash <<'EOF'\n{command}\nEOF"),
        11 => format!("echo `ls`\n{command}"),
        12 => format!("for i in 1; do {command}; done"),
        _ => command.to_owned(),
    }
}

const ATTACKS: &[&[&str]] = &[
    &["rm", "-rf", ".harness"],
    &["rm", ".harness/hooks/guard.md"],
    &["mv", ".claude", "x"],
    &["tee", "harness.md"],
    &["cp", "x", ".claude/settings.json"],
    &["sed", "-i", "s/a/b/", "hookbox.toml"],
    &["find", ".harness", "-delete"],
    &["git", "checkout", "HEAD", "--", ".harness"],
    &["hookbox", "trust"],
    &["rm", "-rf", "."],
    &["dd", "of=harness.md"],
    &["python3", "-c", "open('harness.md','w')"],
];

fn runs(world: &World, command: &str) -> Option<String> {
    let args = json!({ "command": command });
    world.judge("run_command", &args, &world.project)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn quotes_and_wrappers_hide_nothing(
        attack in 0..ATTACKS.len(),
        ways in prop::collection::vec(any::<u8>(), 1..40),
        wraps in prop::collection::vec(any::<u8>(), 0..4),
        gap in "[ \t]{1,3}|( \\\\\n )",
    ) {
        let world = world();
        let words: Vec<String> = ATTACKS[attack].iter().map(|word| respelled(word, &ways)).collect();
        let mut command = words.join(&gap);
        for way in wraps {
            command = wrapped(&command, way);
        }
        prop_assert!(world.refuses(&command), "{}", command);
    }

    #[test]
    fn paths_are_known_in_any_spelling(
        name in prop::sample::select(vec![".harness/hooks/guard.md", "harness.md", ".claude/settings.json"]),
        fillers in prop::collection::vec(prop::sample::select(vec!["./", "/", "src/../", "././/"]), 0..5),
        upper in any::<u64>(),
    ) {
        let world = world();
        let cased: String = name.chars().enumerate()
            .map(|(at, c)| if upper >> (at % 64) & 1 == 1 { c.to_ascii_uppercase() } else { c })
            .collect();
        let path = format!("{}/{}{}", world.project.display(), fillers.concat(), cased);
        for path in [path.clone(), path.replace('/', "\\"), format!("file://{path}")] {
            let args = json!({ "path": path });
            prop_assert!(world.judge("write_file", &args, &world.project).is_some(), "{}", path);
        }
    }

    #[test]
    fn nothing_panics(text in "(?s).{0,300}", key in "[a-z_]{1,8}") {
        let world = world();
        let _ = runs(world, &text);
        let args = json!({ key: text, "path": text, "patch": text, "code": text });
        let _ = world.judge("powershell", &args, &world.project);
        let _ = world.judge("apply_patch", &json!(text), &world.project);
    }

    #[test]
    fn nothing_that_looks_like_a_shell_panics(
        parts in prop::collection::vec(prop::sample::select(vec![
            "$(", ")", "`", "'", "\"", "${", "}", "{", ",", "..", "$'\\x", "<<EOF\n", "EOF\n", "<(", ">", "<<<",
            "|", "&&", "||", ";", ";;", "\n", " ", "\\", "*", "?", "[", "]", "!", "(", "rm", "cd", "if", "for x in",
            "case", "esac", "fi", "do", "done", "x=", "$x", "${x:1:2}", "${x#*}", "${!x}", "git", "find", "-exec", "{}",
            "xargs", "sh -c", "eval", "echo", "printf %s", "base64 -d", ".harness", "~", "é", "\u{f8f7}", "tr a-z",
        ]), 0..60),
    ) {
        let world = world();
        let _ = runs(world, &parts.concat());
        let _ = runs(world, &parts.join(" "));
    }
}

#[test]
fn the_look_at_a_long_command_comes_to_an_end() {
    let world = world();
    let units = [
        "a ",
        "$(",
        "${",
        "`",
        "'",
        "\"",
        "(",
        "{a,",
        "x=1;",
        "$(a) ",
        "<<E\n",
        "[",
        "*",
        "*/",
        "../",
        "src/../",
        "s*/../",
        "\\",
        "cd a;",
        "cd a&&",
        "a|",
        "if a;",
        ".h",
        "{",
        "$x",
        "a=b c=$a ",
        "rm x;",
        "rm $x/*;",
        "<(",
        "'.h' ",
        "eval ",
        "sh -c ",
        "x=(a);",
        "f(){ ",
        "sudo ",
        "find . -exec ",
        "git bisect run ",
        "sh -c '",
        "$(sudo ",
        "echo a >b;",
        "(a=1);",
        "a&& ",
        "ln -s a b;",
        "python -c '\"a\" \"b\"';",
        "case a in a) ",
        "xargs ",
        "~",
        "!(",
    ];
    for unit in units {
        let _ = runs(world, &unit.repeat((1 << 15) / unit.len()));
    }
}

/// What stands behind a text of any depth is looked at, or the text is refused: a stack that
/// ran over would end the process, and agents take that for a yes.
#[test]
fn no_depth_ends_the_look_at_what_comes_after() {
    // As long as patterns come, and less of what takes longer to read.
    const LENGTHS: [usize; 2] = [400_000, 100_000];
    let units = [
        ("", "src/../", "*"),
        ("ls ", "src/../", "*"),
        ("ls ", "s*/../", ""),
        ("ls ", "*/", ""),
        ("ls ", "docs/up/../", "*"),
        ("cd ", "s*/../", ""),
        ("find ", "s*/../", " -name x"),
        ("find . ", "\\( ", "-name x"),
        ("find . ", "! ", "-name x"),
        ("echo ", "$(", ""),
        ("echo ", "\"$(", ""),
        ("echo ", "$((", ""),
        ("", "( ", ""),
        ("", "((", ""),
        ("", "{ ", ""),
        ("echo ", "{a,", ""),
        ("echo ", "${x:-", ""),
        ("echo ", "${x:-$(", ""),
        ("echo ", "<(", ""),
        ("", "eval ", "x"),
        ("", "eval \"", ""),
        ("", "bash -c ", "x"),
        ("", "bash -c '", ""),
        ("", "sudo ", "x"),
        ("", "find . -exec ", "x"),
        ("", "xargs ", "x"),
        ("", "if ", "x"),
        ("", "`", ""),
        ("", "\\`", ""),
        ("", "f() { ", ""),
        ("", "cat <<E $(", ""),
        ("echo ", "$(<<E\n", ""),
        ("", "((a) ", ""),
        ("x=", "(", ""),
        ("python3 -c '", "[", "'"),
        ("ls ", "!(", ""),
        ("ls ", "[", ""),
    ];
    let judge = move || {
        for (before, unit, after) in units {
            let length = LENGTHS[usize::from(!unit.contains('/'))];
            let deep = format!("{before}{}{after}", unit.repeat(length / unit.len()));
            let _ = runs(world(), &deep);
            assert!(
                world().refuses(&format!("{deep}\nrm -rf .harness")) || !ends(unit),
                "{unit}"
            );
        }
    };
    let small = std::thread::Builder::new().stack_size(1 << 20);
    small.spawn(judge).unwrap().join().unwrap();
}

#[test]
fn arguments_in_arguments_come_to_an_end() {
    let judge = || {
        let mut args = json!("rm -rf .harness");
        for level in 0..1_000 {
            args = match level % 50 {
                0 => json!({ "command": args.to_string() }),
                _ => json!([args]),
            };
            if level % 50 == 0 {
                let _ = world().judge("shell", &args, &world().project);
            }
            if args.to_string().len() > 1 << 20 {
                break;
            }
        }
    };
    let small = std::thread::Builder::new().stack_size(1 << 20);
    small.spawn(judge).unwrap().join().unwrap();
}

/// A text that doubles would end the process, too.
#[test]
fn what_grows_is_refused() {
    let a = |count: usize| "a".repeat(count);
    let growing = [
        format!("x=aaaa; {}", "x=$x$x; ".repeat(60)),
        format!("x={}; {}", a(1000), "x=${x//a/$x}; ".repeat(4)),
        format!(
            "echo {} | xargs -I{{}} echo {}",
            a(200_000),
            "{}".repeat(100_000)
        ),
        format!("x={}; echo {}", a(100_000), "$x".repeat(100_000)),
        format!("x={}; echo {}", a(100_000), "$x ".repeat(100_000)),
        format!("x={}; {}", a(100_000), "y=$x; (a); ".repeat(10_000)),
        format!("x={}; {}", a(100_000), "f() { ".repeat(150)),
        format!("set -- {}; {}", a(1000), "set -- \"$@$@\"; ".repeat(40)),
        format!("sed s/a/{}/ <<< {} | sh", a(100_000), a(100_000)),
        format!("sed s/a/{}/ <<< {} | sed s/a/{0}/ | sh", a(2000), a(2000)),
    ];
    for command in growing {
        assert!(world().refuses(&format!("{command}\nrm -rf .harness")));
    }
}

/// Says whether what comes on the next line is no part of a text any more.
fn ends(unit: &str) -> bool {
    !unit.contains(['(', '{', '"', '\'', '`', '['])
}

#[test]
fn a_long_document_is_allowed() {
    let world = world();
    let text = "the hooks in `.harness/` and \"harness.md\" are $5 (really)\n".repeat(15_000);
    let command = format!("cat > docs/long.md <<'EOF'\n{text}EOF");
    assert_eq!(runs(world, &command), None);
    assert!(world.refuses(&format!("{command}\nrm -rf .harness")));
}

#[test]
fn odd_letters_after_a_brace_are_read() {
    for text in ["AAA${\0¡", "${!¡}", "${#}", "${x:¡}", "${x/¡"] {
        assert_eq!(runs(world(), text), None);
    }
}

#[test]
fn refusals_are_sentences() {
    let world = world();
    let args = json!({ "command": "rm -rf .harness" });
    let why = world.judge("Bash", &args, &world.project);
    let expected = ".harness/ could be changed by the shell command `rm -rf .harness`, and an agent may not change what \
                    watches it: ask a person to do it, and then to run `hookbox trust`";
    assert_eq!(why.as_deref(), Some(expected));
}
