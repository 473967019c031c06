//! Random damage. Nothing may panic, and nothing may pass for a tape that it is not.

use hookbox::tape::Ending;
use proptest::prelude::*;

use crate::support::tape::{lines, other_tape, play, read, read_strictly, small_tape, tape};

/// One thing that happens to a tape. Places are fractions of its length.
#[derive(Debug, Clone)]
enum Damage {
    Flip(f64, u8),
    Insert(f64, Vec<u8>),
    Delete(f64, usize),
    /// Copies a chunk of the tape itself to another place.
    Copy(f64, f64, usize),
    /// Copies a chunk of another tape over the same place.
    Foreign(f64, usize),
    /// Copies a whole line of another tape between two lines.
    Line(f64, f64),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = || 0.0..1.0_f64;
    let piece = prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..20),
        "[ \n{}\":,0-9a-z]{1,12}".prop_map(String::into_bytes),
    ];
    prop_oneof![
        (at(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (at(), piece).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (at(), 1..400_usize).prop_map(|(at, length)| Damage::Delete(at, length)),
        (at(), at(), 1..2_000_usize).prop_map(|(from, to, length)| Damage::Copy(from, to, length)),
        (at(), 1..2_000_usize).prop_map(|(at, length)| Damage::Foreign(at, length)),
        (at(), at()).prop_map(|(from, to)| Damage::Line(from, to)),
    ]
}

fn place(at: f64, length: usize) -> usize {
    ((at * length as f64) as usize).min(length.saturating_sub(1))
}

fn apply(tape: &mut Vec<u8>, damage: &Damage) {
    if tape.is_empty() {
        return;
    }
    match damage {
        Damage::Flip(at, bit) => {
            let at = place(*at, tape.len());
            tape[at] ^= 1 << bit;
        }
        Damage::Insert(at, bytes) => {
            let at = place(*at, tape.len());
            tape.splice(at..at, bytes.iter().copied());
        }
        Damage::Delete(at, length) => {
            let at = place(*at, tape.len());
            let end = (at + length).min(tape.len());
            tape.drain(at..end);
        }
        Damage::Copy(from, to, length) => {
            let from = place(*from, tape.len());
            let chunk = tape[from..(from + length).min(tape.len())].to_vec();
            let to = place(*to, tape.len());
            tape.splice(to..to, chunk);
        }
        Damage::Foreign(at, length) => {
            let other = other_tape();
            let at = place(*at, tape.len().min(other.len()));
            let end = (at + length).min(tape.len()).min(other.len());
            tape[at..end].copy_from_slice(&other[at..end]);
        }
        Damage::Line(from, to) => {
            let other = lines(other_tape());
            let line = other[place(*from, other.len())];
            let own = lines(tape);
            let to = place(*to, own.len());
            let to: usize = own[..to].iter().map(|line| line.len()).sum();
            tape.splice(to..to, line.iter().copied());
        }
    }
}

/// Reads bytes in every way. What passes for a closed tape must say what one of the
/// originals says, and be it if every line has to be canonical.
fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    let originals = [tape(), other_tape(), small_tape()];
    let _ = play(bytes);
    if let Ok(whole) = read(bytes)
        && whole.ending == Ending::Closed
    {
        let said = |original: &[u8]| read(original).unwrap().records;
        let known = originals
            .iter()
            .any(|original| said(original) == whole.records);
        prop_assert!(known, "other contents were accepted");
    }
    if read_strictly(bytes).is_ok_and(|whole| whole.ending == Ending::Closed) {
        prop_assert!(originals.contains(&bytes), "other bytes were accepted");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn attack_a_tape_with_random_damage(small in any::<bool>(), damages in proptest::collection::vec(damage(), 1..5)) {
        let mut bytes = if small { small_tape() } else { tape() }.to_vec();
        for damage in &damages {
            apply(&mut bytes, damage);
        }
        check(&bytes)?;
    }

    #[test]
    fn attack_random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        prop_assert!(read(&bytes).is_err());
        check(&bytes)?;
    }

    #[test]
    fn attack_random_bytes_behind_a_header(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        check(&[lines(tape())[0], &bytes].concat())?;
    }

    #[test]
    fn attack_random_json_behind_a_header(text in "(\\{(\"(n|kind|prev|in|hook|payload)\":(1|\"(footer|body|outcome|dispatch)\"|null|\\{\\}|\\[\\]),?){0,6}\\}\n?){0,4}") {
        check(&[lines(tape())[0], text.as_bytes()].concat())?;
    }
}
