//! Times contestants in turns, so that whatever else the machine does hits all of
//! them alike.

use std::time::{Duration, Instant};

/// One contestant.
pub struct Row<'a> {
    name: &'a str,
    work: Box<dyn FnMut() + 'a>,
    times: Vec<Duration>,
}

impl<'a> Row<'a> {
    pub fn new(name: &'a str, work: impl FnMut() + 'a) -> Self {
        Self {
            name,
            work: Box::new(work),
            times: Vec::new(),
        }
    }

    fn median(&self) -> Duration {
        self.times[self.times.len() / 2]
    }
}

/// Several contestants doing the same. The last one is hookbox.
pub struct Contest<'a> {
    title: &'a str,
    rounds: usize,
}

impl<'a> Contest<'a> {
    pub fn new(title: &'a str, rounds: usize) -> Self {
        Self { title, rounds }
    }

    pub fn run(self, rows: &mut [Row<'_>]) {
        for round in 0..self.rounds + self.rounds / 10 {
            for row in rows.iter_mut() {
                let started = Instant::now();
                (row.work)();
                // The first tenth warms caches up.
                if round >= self.rounds / 10 {
                    row.times.push(started.elapsed());
                }
            }
        }
        for row in rows.iter_mut() {
            row.times.sort();
        }
        let Some(own) = rows.last().map(Row::median) else {
            return;
        };
        println!(
            "\n{}\n{:44} {:>10} {:>10}   hookbox takes",
            self.title, "", "min", "median"
        );
        for row in rows.iter() {
            let ratio = own.as_secs_f64() / row.median().as_secs_f64();
            println!(
                "{:44} {:>10} {:>10}   {ratio:.3} times as long",
                row.name,
                shown(row.times[0]),
                shown(row.median())
            );
        }
    }
}

fn shown(time: Duration) -> String {
    let microseconds = time.as_secs_f64() * 1e6;
    if microseconds < 1_000.0 {
        format!("{microseconds:.1} µs")
    } else {
        format!("{:.2} ms", microseconds / 1e3)
    }
}
