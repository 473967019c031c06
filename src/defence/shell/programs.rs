//! What is known about programs that start others, or that change more than they name.

use super::Place;
use super::lexer::Kind;

/// A program that runs the command behind it.
#[derive(Default)]
pub(in crate::defence) struct Wrapper {
    /// Options whose value is the next word.
    valued: &'static [&'static str],
    /// How many words come before the command.
    skip: usize,
    /// It can run the command in another folder.
    pub moves: bool,
    /// It fills the command in from its input.
    pub feeds: bool,
    /// It takes commands as texts, too.
    pub script: bool,
}

/// Returns how a program runs another.
pub(in crate::defence) fn wrapper(name: &str) -> Option<Wrapper> {
    let plain = Wrapper::default();
    Some(match name {
        "nohup" | "exec" | "builtin" | "setsid" | "busybox" | "toybox" | "caffeinate"
        | "unbuffer" | "winpty" | "doas" | "command" | "rtk" | "-" | "time" | "noglob"
        | "nocorrect" | "then" | "do" | "else" => Wrapper {
            valued: &["-u", "-a", "-f", "-o", "-g"],
            ..plain
        },
        "sudo" => Wrapper {
            valued: &[
                "-u", "-g", "-h", "-p", "-C", "-D", "-T", "-U", "-R", "--user", "--chdir",
            ],
            moves: true,
            ..plain
        },
        "env" => Wrapper {
            valued: &["-u", "-C", "-S", "--unset", "--chdir", "--split-string"],
            moves: true,
            script: true,
            ..plain
        },
        "nice" | "ionice" | "stdbuf" | "chrt" | "cpulimit" => Wrapper {
            valued: &["-n", "-c", "-i", "-o", "-e", "-p", "-l"],
            ..plain
        },
        "timeout" | "gtimeout" => Wrapper {
            valued: &["-s", "-k", "--signal", "--kill-after"],
            skip: 1,
            ..plain
        },
        "flock" | "chroot" | "taskset" => Wrapper {
            valued: &["-w", "-E"],
            skip: 1,
            script: true,
            ..plain
        },
        "xargs" | "gxargs" | "parallel" => Wrapper {
            valued: &[
                "-I", "-n", "-P", "-L", "-d", "-s", "-a", "-E", "-j", "--jobs",
            ],
            feeds: true,
            ..plain
        },
        "watch" | "su" | "script" | "hyperfine" | "nix-shell" | "runuser" | "entr"
        | "concurrently" | "at" | "batch" => Wrapper {
            valued: &["-n", "-c", "--command", "--run", "-w", "-r", "-s", "-p"],
            script: true,
            ..plain
        },
        _ => return None,
    })
}

/// Splits the words behind a wrapper into its own and those of the command.
pub(in crate::defence) fn behind<'a>(
    wrapper: &Wrapper,
    args: &'a [String],
) -> (Vec<String>, &'a [String]) {
    let mut at = 0;
    let mut skip = wrapper.skip;
    while let Some(arg) = args.get(at) {
        if arg == "--" {
            at += 1;
            break;
        }
        if wrapper.valued.contains(&arg.as_str()) {
            at += 2;
        } else if arg.starts_with('-') && arg.len() > 1 || is_assignment(arg) {
            at += 1;
        } else if skip > 0 {
            skip -= 1;
            at += 1;
        } else {
            break;
        }
    }
    let at = at.min(args.len());
    let (before, rest) = args.split_at(at);
    (before.to_vec(), rest)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Says whether a program reads scripts of the shell.
pub(in crate::defence) fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash"
            | "zsh"
            | "dash"
            | "ksh"
            | "mksh"
            | "ash"
            | "fish"
            | "rbash"
            | "pwsh"
            | "powershell"
            | "cmd"
            | "tcsh"
            | "csh"
            | "nu"
            | "elvish"
            | "yash"
            | "osh"
    )
}

/// Returns how a shell reads its scripts.
pub(in crate::defence) fn kind_of(name: &str, otherwise: Kind) -> Kind {
    match name {
        "pwsh" | "powershell" | "cmd" => Kind::Windows,
        name if is_shell(name) => Kind::Posix,
        _ => otherwise,
    }
}

/// Where a shell has its script from.
pub(in crate::defence) enum Script {
    Inline(String, Vec<String>),
    Encoded(String),
    File(String, Vec<String>),
    Input,
}

/// Reads the words of a shell.
pub(in crate::defence) fn script(name: &str, args: &[String]) -> Script {
    let windows = kind_of(name, Kind::Posix) == Kind::Windows;
    let mut at = 0;
    let mut inline = false;
    while let Some(arg) = args.get(at) {
        let folded = arg.to_lowercase();
        let rest = args.get(at + 1..).unwrap_or_default();
        match folded.as_str() {
            "/c" | "/k" | "/r" | "-command" => return Script::Inline(rest.join(" "), Vec::new()),
            "-e" | "-ec" | "-enc" | "-encodedcommand" if windows => {
                return Script::Encoded(rest.first().cloned().unwrap_or_default());
            }
            "-file" | "-o" | "+o" | "--rcfile" | "--init-file" | "-executionpolicy" | "-ep"
            | "-version" | "-workingdirectory" => at += usize::from(folded != "-file"),
            "-s" => return Script::Input,
            "--command" => inline = true,
            _ if inline && !arg.starts_with('-') => {
                return Script::Inline(arg.clone(), rest.to_vec());
            }
            option if option.starts_with("--command=") => {
                return Script::Inline(arg.chars().skip(10).collect(), Vec::new());
            }
            option if option.starts_with("--") => {}
            "-" => return Script::Input,
            option if option.starts_with('-') => {
                inline |= option.contains('c') && !option.starts_with("-no")
            }
            option if option.starts_with('+') => {}
            _ => {
                let all = args.get(at..).unwrap_or_default();
                return Script::File(arg.clone(), all.to_vec());
            }
        }
        at += 1;
    }
    Script::Input
}

/// Says how near a word of a command must be to something protected to be refused.
pub(in crate::defence) fn reach(name: &str, args: &[String]) -> Place {
    let recursive = args.iter().any(|arg| {
        let short = arg.starts_with('-') && !arg.starts_with("--");
        arg == "--recursive" || short && arg.contains(['R', 'r'])
    });
    match name {
        "rm" | "rmdir" | "shred" | "srm" | "trash" | "rimraf" | "del-cli" | "trash-cli" | "del"
        | "erase" | "rd" | "remove-item" | "ri" | "unlink" | "mount" | "umount" | "bindfs"
        | "rename-item" | "rni" | "ren" | "trash-put" | "gio" | "clear-content" | "new-item" => {
            Place::FarAbove
        }
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "icacls" | "takeown" | "chflags"
            if recursive =>
        {
            Place::FarAbove
        }
        "tar" | "gtar" | "bsdtar" | "zip" | "7z" | "7za" | "7zz" | "7zr" | "rar"
            if takes_away(name, args) =>
        {
            Place::FarAbove
        }
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "tar" | "bsdtar" | "unzip" | "7z"
        | "cpio" | "wget" | "curl" | "degit" | "rename" | "svn" | "aria2c" | "rclone"
        | "expand-archive" | "invoke-webrequest" | "iwr" => Place::Above,
        _ => Place::Inside,
    }
}

/// Says whether a program takes links away, and not what they lead to.
pub(in crate::defence) fn unlinks(name: &str) -> bool {
    matches!(name, "rm" | "unlink" | "trash" | "trash-put" | "rimraf")
}

/// Says whether a program that deletes fills wildcards in itself.
pub(in crate::defence) fn globs(name: &str) -> bool {
    matches!(name, "rimraf" | "del" | "del-cli" | "trash-cli")
}

/// Says whether a program deletes what it packs.
fn takes_away(name: &str, args: &[String]) -> bool {
    args.iter().any(|arg| match name {
        "zip" => {
            arg == "--move" || arg.starts_with('-') && !arg.starts_with("--") && arg.contains('m')
        }
        "rar" => matches!(arg.as_str(), "m" | "mf" | "-df" | "-dr" | "-dw"),
        name if name.starts_with("7z") => arg.to_lowercase().starts_with("-sdel"),
        _ => arg.starts_with("--rem"),
    })
}

/// Says whether the texts that a program takes are for people or for servers.
pub(in crate::defence) fn takes_messages(name: &str) -> bool {
    matches!(
        name,
        "gh" | "glab"
            | "curl"
            | "wget"
            | "http"
            | "xh"
            | "notify-send"
            | "say"
            | "jira"
            | "linear"
            | "terminal-notifier"
            | "slack"
            | "mail"
            | "bd"
    )
}

/// Says whether a program does nothing with its input but to keep or send it.
pub(in crate::defence) fn stores_input(name: &str) -> bool {
    takes_messages(name)
        || matches!(
            name,
            "tee"
                | "sponge"
                | "dd"
                | "pbcopy"
                | "xclip"
                | "xsel"
                | "wl-copy"
                | "clip"
                | "split"
                | "gzip"
                | "zstd"
                | "xz"
                | "install"
                | "tee-object"
                | "set-content"
                | "out-file"
                | "add-content"
        )
}

/// Says whether a program does what its input says.
pub(in crate::defence) fn runs_input(name: &str) -> bool {
    let interpreters = [
        "python",
        "node",
        "perl",
        "ruby",
        "php",
        "lua",
        "deno",
        "bun",
        "ssh",
        "psql",
        "sqlite3",
        "ex",
        "ed",
        "vim",
        "vi",
        "docker",
        "kubectl",
        "osascript",
        "crontab",
        "tclsh",
        "iex",
    ];
    is_shell(name) || interpreters.iter().any(|start| name.starts_with(start))
}

/// Says whether a word behind an unknown command is likely to be a command itself.
pub(in crate::defence) fn is_telling(name: &str) -> bool {
    is_shell(name)
        || super::super::own::is_hookbox(name)
        || matches!(
            name,
            "rm" | "rmdir"
                | "mv"
                | "cp"
                | "ln"
                | "shred"
                | "find"
                | "chmod"
                | "chown"
                | "rsync"
                | "xargs"
                | "env"
                | "sudo"
                | "patch"
                | "pkill"
                | "killall"
                | "rimraf"
                | "del-cli"
                | "trash-cli"
                | "tar"
                | "unzip"
                | "eval"
                | "remove-item"
                | "move-item"
        )
}
