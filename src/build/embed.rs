//! Runs when hookbox itself is compiled: lists the files of the SDKs and templates, so
//! that the binary carries them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// What is in an SDK's folder only to make or test it.
const LEFT_OUT: [&str; 9] = [
    "bindgen",
    "generate.py",
    "target",
    "node_modules",
    "__pycache__",
    "test",
    "tests",
    "dist",
    "hookbox.egg-info",
];

/// The folders below `guest-sdk/` that projects get. The interpreter is not one of them.
const SDKS: [&str; 6] = ["rust", "js", "python", "go", "c", "zig"];

/// Makes the binary start sooner where that is known to work: an agent starts it for every
/// event.
fn start_sooner() -> io::Result<()> {
    println!("cargo::rustc-check-cfg=cfg(static_libc)");
    println!("cargo::rerun-if-env-changed={DYNAMIC}");
    let wanted = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if !wanted("CARGO_CFG_TARGET_OS", "linux")
        || !wanted("CARGO_CFG_TARGET_ENV", "gnu")
        || !wanted("CARGO_CFG_TARGET_ARCH", "x86_64")
    {
        return Ok(());
    }
    // Moving its million bytes of pointers costs more than most decisions; everything
    // that is mapped later still lies at random addresses.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    if archive("gcc_eh").is_none() {
        return Ok(());
    }
    // As a library of its own, the unwinder asks the processor what it is, which takes
    // long on a virtual machine.
    println!("cargo::rustc-link-lib=gcc_eh");
    if env::var_os(DYNAMIC).is_none() {
        link_statically()?;
    }
    Ok(())
}

/// If it is set when hookbox is compiled, the C library is a file of its own.
const DYNAMIC: &str = "HOOKBOX_DYNAMIC";

/// The libraries that the standard library wants.
const LIBRARIES: [&str; 7] = ["c", "m", "util", "rt", "pthread", "dl", "gcc_s"];

/// What the compiler adds to each of them: the unwinder, and numbers the processor lacks.
const COMPILERS_OWN: [&str; 2] = ["gcc_eh", "gcc"];

/// Puts the C library into the binary: finding, mapping and linking it takes a third of the
/// time of a process that only asks a server. The linker is told to take it as a file of
/// its own, so what it finds under that name says where the archives are.
fn link_statically() -> io::Result<()> {
    let mut scripts = Vec::new();
    for library in LIBRARIES {
        // The unwinder has no archive of this name.
        let own = Some(library).filter(|name| *name != "gcc_s");
        let all = own.into_iter().chain(COMPILERS_OWN).map(archive);
        let Some(archives) = all.collect::<Option<Vec<PathBuf>>>() else {
            return Ok(());
        };
        let names: Vec<String> = archives.iter().map(|path| format!("{path:?}")).collect();
        scripts.push((library, format!("GROUP ( {} )\n", names.join(" "))));
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("static");
    fs::create_dir_all(&out)?;
    for (library, script) in scripts {
        fs::write(out.join(format!("lib{library}.so")), script)?;
    }
    println!("cargo::rustc-link-arg-bins=-L{}", out.display());
    println!("cargo::rustc-link-arg-bins=-static");
    println!("cargo::rustc-cfg=static_libc");
    Ok(())
}

/// Returns the archive of a library, if the compiler that links has it and links for this
/// machine.
fn archive(library: &str) -> Option<PathBuf> {
    let native = env::var_os("HOST") == env::var_os("TARGET");
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let found = Command::new(linker)
        .arg(format!("-print-file-name=lib{library}.a"))
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(found.stdout).ok()?.trim());
    // What it does not find it prints as it is.
    (native && path.is_absolute()).then_some(path)
}

fn main() -> io::Result<()> {
    start_sooner()?;
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut text = String::new();
    table(&mut text, "SDKS", &root.join("guest-sdk"), &SDKS, &LEFT_OUT)?;
    let templates = root.join("src/scaffold/templates");
    let mut names = Vec::new();
    for entry in fs::read_dir(&templates)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    table(&mut text, "TEMPLATES", &templates, &names, &["__pycache__"])?;
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("embedded.rs"), text)
}

fn table(
    text: &mut String,
    name: &str,
    root: &Path,
    folders: &[&str],
    left_out: &[&str],
) -> io::Result<()> {
    let _ = writeln!(
        text,
        "pub(crate) static {name}: &[(&str, &[(&str, &str)])] = &["
    );
    for folder in folders {
        let base = root.join(folder);
        let mut paths = Vec::new();
        walk(&base, left_out, &mut paths)?;
        paths.sort();
        let _ = writeln!(text, "    ({folder:?}, &[");
        for path in paths {
            let shown = path.strip_prefix(&base).unwrap_or(&path);
            let shown = shown.to_string_lossy().replace('\\', "/");
            let _ = writeln!(
                text,
                "        ({shown:?}, include_str!({:?})),",
                path.display().to_string()
            );
        }
        let _ = writeln!(text, "    ]),");
    }
    let _ = writeln!(text, "];");
    Ok(())
}

fn walk(folder: &Path, left_out: &[&str], paths: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let path = entry.path();
        let is_folder = entry.file_type()?.is_dir();
        // Hidden folders are tools' own.
        if left_out.contains(&&*name) || is_folder && name.starts_with('.') {
            continue;
        }
        if is_folder {
            walk(&path, left_out, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}
