//! Tapes that were cut, flipped, put in another order, put together or made up. Each
//! attack is a test of its own; each is refused with the record that is wrong.

mod support;

#[path = "tape_damage/foreign.rs"]
mod foreign;
#[path = "tape_damage/forged.rs"]
mod forged;
#[path = "tape_damage/fuzz.rs"]
mod fuzz;
#[path = "tape_damage/page.rs"]
mod page;
#[path = "tape_damage/redacted.rs"]
mod redacted;
#[path = "tape_damage/story.rs"]
mod story;
#[path = "tape_damage/taken_out.rs"]
mod taken_out;
#[path = "tape_damage/twins.rs"]
mod twins;

use hookbox::tape::{Ending, Reader, TapeError};
use serde_json::Value;
use support::tape::{
    DISPATCHES, chained, culprit, edited, lines, other_tape, play, read, read_strictly, refusal,
    small_tape, tape, values,
};

#[test]
fn a_tape_that_nobody_touched_is_whole() {
    let whole = read_strictly(tape()).unwrap();
    assert_eq!(whole.ending, Ending::Closed);
    assert_eq!(whole.records.len(), lines(tape()).len());
    let played = play(tape()).unwrap();
    assert_eq!(played.dispatches.len(), DISPATCHES);
    assert!(played.unfinished.is_empty());
    let kinds: Vec<Value> = values(tape())
        .into_iter()
        .map(|one| one["kind"].clone())
        .collect();
    for kind in ["body", "predicate", "host_call", "hook_vetoed"] {
        assert!(kinds.contains(&kind.into()), "no {kind} in {kinds:?}");
    }
}

#[test]
fn the_encoder_of_these_tests_writes_what_the_recorder_writes() {
    let again = chained(&values(tape()));
    assert_eq!(
        again,
        tape(),
        "every line is canonical and chained as documented"
    );
}

/// How many dispatches of the agent's own have ended within these records.
fn ended(records: &[Value]) -> usize {
    let own = |number: &Value| {
        let mut starts = records.iter().filter(|one| one["kind"] == "dispatch");
        let start = starts.find(|one| one["in"] == *number).unwrap();
        start.get("parent").is_none()
    };
    let outcomes = records.iter().filter(|one| one["kind"] == "outcome");
    outcomes.filter(|outcome| own(&outcome["in"])).count()
}

#[test]
fn attack_cut_at_every_byte() {
    let (tape, records) = (tape(), values(tape()));
    for cut in 0..tape.len() {
        let part = &tape[..cut];
        let whole = part.iter().filter(|&&byte| byte == b'\n').count();
        if whole == 0 {
            let message = read(part).unwrap_err().to_string();
            let expected = match cut {
                0 => "the tape is empty; record one with `hookbox run … --tape FILE`",
                _ => "this is not a tape: it ends in the middle of its first line",
            };
            assert_eq!(message, expected);
            continue;
        }
        let rest = part.rsplit(|&byte| byte == b'\n').next().unwrap().len() as u64;
        let ending = match rest {
            0 => Ending::Open,
            bytes => Ending::Torn { bytes },
        };
        let found = read(part).unwrap();
        assert_eq!(
            (found.records.len(), found.ending),
            (whole, ending),
            "cut at {cut}"
        );
        let played = play(part).unwrap();
        assert_eq!(played.ending, ending, "cut at {cut}");
        assert_eq!(
            played.dispatches.len(),
            ended(&records[..whole]),
            "cut at {cut}"
        );
    }
}

/// Flips one bit and sees that it is noticed where it is.
fn flip(tape: &[u8], starts: &[usize], at: usize, bit: u32) {
    let mut flipped = tape.to_vec();
    flipped[at] ^= 1 << bit;
    let line = starts.partition_point(|start| *start <= at) as u64 - 1;
    match play(&flipped) {
        Ok(played) => {
            assert_eq!(
                at,
                tape.len() - 1,
                "bit {bit} of byte {at} in record {line}"
            );
            assert!(
                matches!(played.ending, Ending::Torn { .. }),
                "{:?}",
                played.ending
            );
        }
        Err(error) => {
            let named = culprit(&error);
            // A header that is none has no number, and neither has one that never ends.
            let is_near = named.map_or(line == 0, |named| named == line || named == line + 1);
            assert!(is_near, "bit {bit} of byte {at} in record {line}: {error}");
            if let Some(named) = named {
                assert!(
                    error.to_string().contains(&format!("record {named} ")),
                    "{error}"
                );
            }
        }
    }
}

fn starts(tape: &[u8]) -> Vec<usize> {
    let ends = lines(tape).into_iter().scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some(start)
    });
    ends.collect()
}

#[test]
fn attack_every_bit_of_a_small_tape_flipped() {
    let (tape, starts) = (small_tape(), starts(small_tape()));
    for at in 0..tape.len() {
        for bit in 0..8 {
            flip(tape, &starts, at, bit);
        }
    }
}

#[test]
fn attack_a_bit_of_every_byte_flipped() {
    let (tape, starts) = (tape(), starts(tape()));
    for at in 0..tape.len() {
        // Neighbours lose different bits.
        flip(
            tape,
            &starts,
            at,
            (at as u32).wrapping_mul(2_654_435_761) >> 29,
        );
    }
}

#[test]
fn attack_any_two_neighbours_swapped() {
    let lines = lines(tape());
    for first in 0..lines.len() - 1 {
        let mut swapped = lines.clone();
        swapped.swap(first, first + 1);
        let expected = match first {
            0 => "this is not a tape: its first line is no header".to_owned(),
            _ => out_of_order(first, first + 1),
        };
        assert_eq!(refusal(&swapped.concat()), expected);
    }
}

fn out_of_order(record: usize, found: usize) -> String {
    format!(
        "record {record} has the number {found}: records were removed, repeated or put in another order"
    )
}

#[test]
fn attack_any_record_twice() {
    let lines = lines(tape());
    for twice in 0..lines.len() {
        let mut repeated = lines.clone();
        repeated.insert(twice, lines[twice]);
        assert_eq!(refusal(&repeated.concat()), out_of_order(twice + 1, twice));
    }
}

#[test]
fn attack_any_record_removed() {
    let lines = lines(tape());
    for gone in 0..lines.len() {
        let mut fewer = lines.clone();
        fewer.remove(gone);
        let fewer = fewer.concat();
        if gone == lines.len() - 1 {
            assert_eq!(
                play(&fewer).unwrap().ending,
                Ending::Open,
                "the footer is gone"
            );
            continue;
        }
        let expected = match gone {
            0 => "this is not a tape: its first line is no header".to_owned(),
            _ => out_of_order(gone, gone + 1),
        };
        assert_eq!(refusal(&fewer), expected);
    }
}

#[test]
fn attack_two_tapes_spliced_where_their_numbers_fit() {
    let (one, other) = (lines(tape()), lines(other_tape()));
    assert_eq!(one.len(), other.len());
    for cut in 1..one.len() {
        let spliced = [&one[..cut], &other[cut..]].concat().concat();
        assert_eq!(
            refusal(&spliced),
            format!(
                "record {cut} does not follow the one before it: record {} was changed, or the tape is put together from two",
                cut - 1
            )
        );
    }
}

#[test]
fn attack_two_tapes_spliced_where_their_numbers_do_not_fit() {
    let (one, other) = (lines(tape()), lines(small_tape()));
    let spliced = [&one[..one.len() / 2], &other[2..]].concat().concat();
    assert_eq!(refusal(&spliced), out_of_order(one.len() / 2, 2));
}

#[test]
fn attack_a_tape_behind_a_tape() {
    let twice = [tape(), other_tape()].concat();
    assert_eq!(refusal(&twice), out_of_order(lines(tape()).len(), 0));
}

/// Whoever can write the whole file can make up a whole tape. What he cannot do is give
/// it the hash that was noted elsewhere.
#[test]
fn attack_a_record_changed_and_all_hashes_made_to_fit() {
    let head = read(tape()).unwrap().head;
    let forged = edited(tape(), |records| {
        for record in records
            .iter_mut()
            .filter(|one| one["reason"] == "dangerous command")
        {
            record["reason"] = "a harmless command".into();
        }
        let outcome = records
            .iter_mut()
            .find(|one| one["decision"] == "block" && one["kind"] == "outcome");
        outcome.unwrap()["trace"][0]["reason"] = "a harmless command".into();
    });
    let whole = read_strictly(&forged).unwrap();
    assert_eq!(whole.ending, Ending::Closed);
    assert_eq!(play(&forged).unwrap().dispatches.len(), DISPATCHES);
    assert_ne!(whole.head, head, "only the head gives it away");
}

#[test]
fn the_head_is_the_hash_of_the_last_line() {
    let mut reader = Reader::new(tape()).unwrap();
    while reader.next_record().unwrap().is_some() {}
    let last = lines(tape()).pop().unwrap();
    let expected = support::tape::digest(last.strip_suffix(b"\n").unwrap());
    assert_eq!(reader.head().to_string(), expected);
    assert_eq!(reader.bytes(), tape().len() as u64);
}

#[test]
fn attack_bytes_behind_the_last_record() {
    for more in ["x", " ", "{\"kind\":\"footer\"", "\0\0\0"] {
        let longer = [tape(), more.as_bytes()].concat();
        let bytes = more.len() as u64;
        assert_eq!(play(&longer).unwrap().ending, Ending::Torn { bytes });
    }
    let next = lines(tape()).len();
    for more in ["\n", "x\n", "{}\n", "\u{0}\n"] {
        let longer = [tape(), more.as_bytes()].concat();
        let error = play(&longer).unwrap_err();
        assert!(matches!(error, TapeError::Damaged { .. }), "{error}");
        assert!(
            error
                .to_string()
                .starts_with(&format!("record {next} is damaged: ")),
            "{error}"
        );
    }
}

#[test]
fn attack_ends_of_lines_as_windows_writes_them() {
    let text = String::from_utf8(tape().to_vec()).unwrap();
    let error = play(text.replace('\n', "\r\n").as_bytes()).unwrap_err();
    assert_eq!(culprit(&error), Some(1), "{error}");
}
