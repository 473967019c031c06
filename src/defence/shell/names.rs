//! What the words of a command name.

use super::super::glob;
use super::super::paths::{self, Base};
use super::super::scene::{Hit, Nearer as _, Place, Scene};
use super::super::through::Wild;
use super::marks::{STAR, UNKNOWN};
use super::state::State;

/// How many parts of a word are looked at.
const PARTS: usize = 64;

/// Returns everything in a word that may be a path: `--file=x`, `-ox`, `of=x`, `a:b`, `@x`.
pub(in crate::defence) fn candidates(word: &str) -> Vec<&str> {
    let mut out = vec![word];
    let mut chars = word.chars();
    if chars.next() == Some('-') && chars.next().is_some_and(|c| c != '-') {
        let attached = chars.as_str();
        out.push(attached);
        // `-sLox` is several options and the value of the last.
        out.extend(
            attached
                .find(['.', '/', '~'])
                .and_then(|at| attached.get(at..)),
        );
    }
    let ends = [':', ',', '=', '@', ' ', '\n', ';', '+'];
    if word.contains(ends) {
        out.extend(word.split(ends).filter(|part| !part.is_empty()).take(PARTS));
        out.extend(word.split_once('=').map(|(_, value)| value));
    }
    out.retain(|name| !name.trim().is_empty() && !name.contains("://") || name.contains("file:"));
    out
}

/// Returns what a path is, seen from one folder.
pub(in crate::defence) fn place(
    scene: &Scene,
    state: &State,
    name: &str,
    cwd: &str,
) -> Option<Hit> {
    let base = Base {
        cwd,
        home: state.home.as_deref(),
    };
    let wild = Wild {
        dots: state.dots,
        itself: state.unlinks,
    };
    let look = |name: &str| {
        if glob::is_pattern(name) {
            let found = scene.globbed(&paths::folded_parts(name, base), state.dots);
            return found.max_place(scene.through_links(name, base, wild));
        }
        scene.reached(name, base)
    };
    let mut found = look(name);
    if !state.links.is_empty() {
        let parts = paths::folded_parts(name, base);
        for (from, to) in &state.links {
            let from = paths::folded_parts(from, base);
            let Some(rest) = parts.strip_prefix(from.as_slice()) else {
                continue;
            };
            let through = format!("{to}/{}", rest.join("/"));
            found = found.max_place(look(&through));
        }
    }
    found
}

/// Returns what a path may be of which only a part is known.
pub(in crate::defence) fn unknown(scene: &Scene, state: &State, name: &str) -> Option<Hit> {
    let near = |hit: &Hit| hit.place >= Place::Above;
    let tail = name.rsplit(UNKNOWN).next().unwrap_or_default();
    let tail = tail.trim_start_matches(['/', '\\']);
    let roots = [Some(scene.project()), scene.home()];
    let roots = roots.iter().flatten();
    let by_tail = roots
        .filter(|_| !tail.is_empty() && !tail.starts_with(glob_marks))
        .filter_map(|root| place(scene, state, tail, root))
        .find(near);
    let guesses = [without(name), with_wildcards(name)];
    let by_guess = || {
        let guesses = guesses.iter().flatten();
        guesses
            .flat_map(|guess| state.cwds.iter().map(move |cwd| (guess, cwd)))
            .filter_map(|(guess, cwd)| place(scene, state, guess, cwd))
            .find(near)
    };
    by_tail.or_else(by_guess)
}

fn glob_marks(c: char) -> bool {
    glob::is_pattern(c.encode_utf8(&mut [0; 4]))
}

/// Takes what is unknown for nothing: `.har${unset}ness`.
fn without(name: &str) -> Option<String> {
    let inner = !name.starts_with(UNKNOWN) && !name.contains(&format!("/{UNKNOWN}/"));
    inner.then(|| name.replace(UNKNOWN, ""))
}

/// Takes what is unknown for anything, in names of which the beginning is known: `.h$x`.
fn with_wildcards(name: &str) -> Option<String> {
    let told = |part: &str| match part.find(UNKNOWN) {
        Some(at) => at >= 2 && part.starts_with('.'),
        None => true,
    };
    name.split('/')
        .all(told)
        .then(|| name.replace(UNKNOWN, &STAR.to_string()))
}
