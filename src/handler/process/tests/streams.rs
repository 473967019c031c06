//! What programs read and print.

use super::*;

const MUCH: usize = 10 * 1024 * 1024;

fn limited(
    process: &Process,
    stdout_limit: usize,
    stderr_limit: usize,
) -> Result<Ended, ProcessError> {
    let environment = environment();
    let occasion = Occasion {
        environment: &environment,
        stdin: b"",
        deadline: Instant::now() + AMPLE,
        stdout_limit,
        stderr_limit,
    };
    process.run(&occasion, &Confinement::default())
}

fn fed(text: &str, stdin: &[u8]) -> Ended {
    run_with(&bash(text), stdin, AMPLE, &Confinement::default()).unwrap()
}

#[test]
fn input_arrives_whole_and_ends() {
    let input: Vec<u8> = (0..MUCH).map(|at| b'a' + (at % 26) as u8).collect();
    assert_eq!(text(&fed("wc -c", &input).stdout).trim(), MUCH.to_string());
    assert_eq!(fed("cat", b"all of it").stdout, b"all of it");
    assert_eq!(fed("cat", b"").stdout, b"");
}

#[test]
fn input_that_nobody_reads_is_no_failure() {
    let input = vec![b'x'; MUCH];
    assert_eq!(fed("exit 3", &input).exit, Exit::Code(3));
    assert_eq!(
        fed("exec <&-; sleep 0.2; echo fine", &input).stdout,
        b"fine\n"
    );
    assert_eq!(fed("head -c 5; exit 0", &input).stdout, b"xxxxx");
}

#[test]
fn input_may_be_read_slowly_while_output_is_printed() {
    let input = vec![b'x'; 200_000];
    let ended = fed(
        "while read -r -N 20000 part; do echo ${#part}; sleep 0.02; done",
        &input,
    );
    assert_eq!(text(&ended.stdout), "20000\n".repeat(10));
}

#[test]
fn both_outputs_are_read_at_once() {
    let ended = run(&bash(
        "for i in {1..2000}; do printf '%0100d\n' $i; printf '%0100d\n' $i >&2; done",
    ))
    .unwrap();
    assert_eq!(ended.stdout.len(), 202_000);
    assert_eq!(ended.stderr, ended.stdout);
    assert!(!ended.stderr_cut);
}

#[test]
fn output_up_to_the_limit_is_kept_and_more_is_refused() {
    let ended = limited(&bash("printf 12345"), 5, 5).unwrap();
    assert_eq!(ended.stdout, b"12345");
    let ran = limited(&bash("printf 123456"), 5, 5);
    assert_eq!(ran, Err(ProcessError::TooMuchOutput { limit: 5 }));
    assert_eq!(limited(&bash("exit 0"), 0, 0).unwrap().stdout, b"");
}

#[test]
fn a_gigabyte_of_output_ends_the_run_at_once() {
    let began = Instant::now();
    let ran = run(&bash("yes | head -c 1G; sleep 50"));
    assert_eq!(ran, Err(ProcessError::TooMuchOutput { limit: LIMIT }));
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn errors_beyond_the_limit_are_cut_and_drained() {
    let ended = limited(&bash("yes | head -c 20M >&2; echo done"), 100, 1000).unwrap();
    assert_eq!(ended.stdout, b"done\n");
    assert_eq!(ended.stderr.len(), 1000);
    assert!(ended.stderr_cut);
    assert_eq!(ended.exit, Exit::Code(0));
}

#[test]
fn output_that_is_no_text_is_kept_as_it_is() {
    let ended = run(&bash(r"printf '\xff\x00\x80'")).unwrap();
    assert_eq!(ended.stdout, [0xff, 0x00, 0x80]);
}

#[test]
fn a_closed_output_is_no_exit() {
    let ended = run(&bash("exec >&- 2>&-; sleep 0.3; exit 4")).unwrap();
    assert_eq!(ended.exit, Exit::Code(4));
}

#[test]
fn what_the_background_prints_is_heard() {
    let ended = run(&bash("( sleep 0.3; echo late ) & echo early")).unwrap();
    assert_eq!(ended.stdout, b"early\nlate\n");
}
