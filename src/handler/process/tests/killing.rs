//! What is still running when a call has to end.

use std::thread;

use super::*;

const SHORT: Duration = Duration::from_millis(700);

/// Runs a script that writes process numbers to the file `ids` and does not end.
fn stopped(text: &str) -> usize {
    let room = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let ran = run_for(&bash_in(room.path(), text), SHORT);
    assert!(began.elapsed() < Duration::from_secs(20), "took too long");
    assert_all_dead(&room.path().join("ids"));
    killed(&ran)
}

#[test]
fn who_sleeps_past_the_deadline_is_killed() {
    assert_eq!(stopped("echo $$ >ids; exec sleep 60"), 1);
}

#[test]
fn the_deadline_is_kept() {
    let began = Instant::now();
    let ran = run_for(&bash("sleep 60"), SHORT);
    assert!(began.elapsed() >= SHORT);
    let Err(ProcessError::Deadline { after_ms, .. }) = ran else {
        panic!("expected a deadline, not {ran:?}");
    };
    assert_eq!(after_ms, 700);
}

#[test]
fn who_ignores_signals_is_killed() {
    assert!(stopped("trap '' TERM INT HUP QUIT; echo $$ >ids; while :; do sleep 1; done") >= 1);
}

#[test]
fn who_closes_its_output_and_sleeps_is_killed() {
    assert_eq!(stopped("echo $$ >ids; exec >&- 2>&- <&-; exec sleep 60"), 1);
}

#[test]
fn who_stops_itself_is_killed() {
    assert_eq!(stopped("echo $$ >ids; kill -STOP $$"), 1);
}

#[test]
fn the_background_counts_while_it_can_print() {
    assert_eq!(stopped("sleep 60 & echo $! >ids; exit 0"), 1);
}

#[test]
fn who_prints_errors_without_end_is_killed() {
    assert!(stopped("echo $$ >ids; yes >&2") >= 1);
}

#[test]
fn a_tree_of_processes_is_killed_and_counted() {
    let tree = "grow() { echo $BASHPID >>ids; (( $1 > 0 )) && { grow $(($1 - 1)) & grow $(($1 - 1)) & }; while :; do read -r -t 9 <> <(:); done; }; grow 4";
    // 31 processes, and what each has started meanwhile.
    assert!(stopped(tree) >= 31);
}

#[test]
fn a_tree_that_keeps_growing_is_killed() {
    let text = "for i in {1..200}; do ( setsid bash -c 'echo $$ >>ids; sleep 60' & ) ; sleep 0.01; done; sleep 60";
    assert!(stopped(text) >= 2);
}

#[test]
fn a_quiet_background_dies_with_a_good_end() {
    let room = tempfile::tempdir().unwrap();
    let text = "sleep 60 >/dev/null 2>&1 </dev/null & echo $! >ids; echo fine";
    let began = Instant::now();
    let ended = run(&bash_in(room.path(), text)).unwrap();
    assert_eq!(
        (ended.exit, ended.stdout),
        (Exit::Code(0), b"fine\n".to_vec())
    );
    assert!(began.elapsed() < Duration::from_secs(20), "took too long");
    assert_all_dead(&room.path().join("ids"));
}

#[test]
fn too_much_output_kills_the_background_too() {
    let room = tempfile::tempdir().unwrap();
    let text = "sleep 60 >/dev/null 2>&1 & echo $! $$ >ids; yes";
    let ran = run(&bash_in(room.path(), text));
    assert_eq!(ran, Err(ProcessError::TooMuchOutput { limit: LIMIT }));
    assert_all_dead(&room.path().join("ids"));
}

#[test]
fn runs_do_not_kill_each_others_processes() {
    let (done, others): (Vec<_>, Vec<_>) = thread::scope(|scope| {
        let long = scope.spawn(|| {
            let text =
                "( sleep 2; echo inner ) & setsid bash -c 'sleep 2; echo far'; wait; echo outer";
            (0..3)
                .map(|_| bash(text))
                .map(|process| scope.spawn(move || run(&process)))
                .collect::<Vec<_>>()
                .into_iter()
                .map(|running| running.join().unwrap().unwrap())
                .collect()
        });
        let short: Vec<_> = (0..20)
            .map(|_| {
                killed(&run_for(
                    &bash("sleep 60 & setsid sleep 60"),
                    Duration::from_millis(100),
                ))
            })
            .collect();
        (long.join().unwrap(), short)
    });
    assert!(others.iter().all(|killed| *killed >= 1));
    for ended in done {
        let ended: Ended = ended;
        let mut lines: Vec<&str> = text(&ended.stdout).lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["far", "inner", "outer"]);
    }
}

#[test]
fn children_of_others_are_left_alone() {
    let mut own = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    for _ in 0..5 {
        run_for(
            &bash("setsid sleep 60 & sleep 60"),
            Duration::from_millis(100),
        )
        .unwrap_err();
    }
    assert_eq!(own.try_wait().unwrap(), None);
    own.kill().unwrap();
    own.wait().unwrap();
}

#[test]
fn no_zombie_stays() {
    for _ in 0..10 {
        run(&bash("( sleep 0.01 & ) ; exit 0")).unwrap();
        run_for(
            &bash("setsid sleep 60 & sleep 60"),
            Duration::from_millis(50),
        )
        .unwrap_err();
    }
    // Other tests' children may be waiting to be waited for just now.
    let until = Instant::now() + Duration::from_secs(20);
    let mut zombies = zombies();
    while !zombies.is_empty() && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
        let now = self::zombies();
        zombies.retain(|zombie| now.contains(zombie));
    }
    assert_eq!(zombies, []);
}

fn zombies() -> Vec<(i32, u64)> {
    let own = rustix::process::getpid().as_raw_pid();
    table::processes()
        .iter()
        .filter(|seen| seen.parent == own && !seen.alive)
        .map(table::Seen::key)
        .collect()
}
