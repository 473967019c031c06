//! `hookbox new`: the project of a new hook.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::style;
use crate::config::Language;
use crate::scaffold;

/// Make the project of a new hook: a working policy, three test cases, a README
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  hookbox new egress-guard --lang python\n  cd egress-guard && hookbox test"
)]
pub(super) struct NewArgs {
    /// What the hook is called, for example egress-guard
    name: String,
    /// What it is written in: rust, javascript, typescript, python, go, c, zig or starlark
    #[arg(long, short, value_parser = language, value_name = "LANGUAGE")]
    lang: Language,
    /// Where it goes [default: a folder of its name]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

fn language(word: &str) -> Result<Language, String> {
    Language::find(word).ok_or_else(|| {
        let names = Language::ALL.map(Language::name).join(", ");
        format!("the languages are {names}")
    })
}

impl NewArgs {
    pub(super) fn run(self) -> Result<i32> {
        let folder = self.path.unwrap_or_else(|| PathBuf::from(&self.name));
        let files = scaffold::new(&self.name, self.lang, &folder)?;
        let mut stdout = anstream::stdout();
        let shown = folder.display();
        writeln!(
            stdout,
            "{} {shown}, a hook in {}",
            style::good("✓"),
            self.lang
        )?;
        for file in files {
            writeln!(stdout, "  {}", file.display())?;
        }
        writeln!(stdout, "\nnext: cd {shown} && hookbox test")?;
        Ok(0)
    }
}
