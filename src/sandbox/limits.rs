//! What a call may use up. Every limit is always on and has a default.

use std::time::Duration;

/// The limits of one hook.
///
/// The defaults leave a policy more than a hundred times what one usually needs
/// and end any runaway within two seconds:
///
/// | limit | default | because |
/// |---|---|---|
/// | `fuel` | 400 million | a Starlark hook uses about one million; an empty loop burns this in about 0.3 s |
/// | `memory` | 64 MiB | the Starlark interpreter holds about 10 MiB before it starts |
/// | `wall_time` | 1.5 s | a net under calls that leave the sandbox and under guests that do nothing but slow instructions; fuel ends a loop long before |
/// | `host_calls` | 10,000 | a call costs the host about a microsecond |
/// | `payload`, `decision` | 4 MiB | the largest file an agent passes through a tool call, several times over |
/// | `log_lines`, `log_bytes` | 1,000 and 64 KiB | what a person could still read |
/// | `metric_names` | 1,000 a run | what a dashboard could still show |
/// | `http_requests` | 50 | what a policy could still wait for |
/// | `request`, `response` | 1 MiB and 4 MiB | bodies of HTTP; the response after it is unpacked |
/// | `table_elements`, `instances` | 20,000 and 64 | what interpreters compiled to WebAssembly need |
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Limits {
    /// Fuel for one call.
    pub fuel: u64,
    /// Linear memory in bytes, all memories together.
    pub memory: usize,
    /// Elements of all tables together.
    pub table_elements: usize,
    /// Core instances, and as many memories and tables.
    pub instances: usize,
    /// Calls across the border.
    pub host_calls: u64,
    /// Wall time of one call.
    #[serde(serialize_with = "milliseconds")]
    pub wall_time: Duration,
    /// Bytes of the payload handed in.
    pub payload: usize,
    /// Bytes of the answer handed back.
    pub decision: usize,
    /// Log lines of one call.
    pub log_lines: usize,
    /// Bytes of all log lines of one call.
    pub log_bytes: usize,
    /// How many metrics the run may have for the hook to add another one.
    pub metric_names: usize,
    /// HTTP requests of one call.
    pub http_requests: u32,
    /// Bytes of the body of a request.
    pub request: usize,
    /// Bytes of the body of a response, unpacked.
    pub response: usize,
}

fn milliseconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{}ms", time.as_millis()))
}

const MIB: usize = 1 << 20;

impl Default for Limits {
    fn default() -> Self {
        Self {
            fuel: 400_000_000,
            memory: 64 * MIB,
            table_elements: 20_000,
            instances: 64,
            host_calls: 10_000,
            wall_time: Duration::from_millis(1_500),
            payload: 4 * MIB,
            decision: 4 * MIB,
            log_lines: 1_000,
            log_bytes: 64 << 10,
            metric_names: 1_000,
            http_requests: 50,
            request: MIB,
            response: 4 * MIB,
        }
    }
}

impl Limits {
    /// What no hook and no project may go beyond: a stranger's hook file must
    /// not be able to switch its own limits off.
    #[must_use]
    pub fn ceiling() -> Self {
        Self {
            fuel: 20_000_000_000,
            memory: 1024 * MIB,
            table_elements: 1_000_000,
            instances: 1_000,
            host_calls: 1_000_000,
            wall_time: Duration::from_secs(60),
            payload: 64 * MIB,
            decision: 64 * MIB,
            log_lines: 100_000,
            log_bytes: 16 * MIB,
            metric_names: 100_000,
            http_requests: 1_000,
            request: 64 * MIB,
            response: 64 * MIB,
        }
    }

    /// The names of the limits, as they are written in a `limits:` block.
    pub const NAMES: [&'static str; 14] = [
        "fuel",
        "memory",
        "table_elements",
        "instances",
        "host_calls",
        "wall_time",
        "payload",
        "decision",
        "log_lines",
        "log_bytes",
        "metric_names",
        "http_requests",
        "request",
        "response",
    ];

    /// Sets one limit from what a `limits:` block says.
    ///
    /// # Errors
    /// Returns what is wrong with the name or the amount.
    pub fn set(&mut self, name: &str, amount: &str) -> Result<(), LimitError> {
        let ceiling = Self::ceiling();
        match name {
            "fuel" => set(name, &mut self.fuel, count(amount), ceiling.fuel),
            "memory" => set(name, &mut self.memory, size(amount), ceiling.memory),
            "table_elements" => set(
                name,
                &mut self.table_elements,
                usize_count(amount),
                ceiling.table_elements,
            ),
            "instances" => set(
                name,
                &mut self.instances,
                usize_count(amount),
                ceiling.instances,
            ),
            "host_calls" => set(
                name,
                &mut self.host_calls,
                count(amount),
                ceiling.host_calls,
            ),
            "wall_time" => set(
                name,
                &mut self.wall_time,
                duration(amount),
                ceiling.wall_time,
            ),
            "payload" => set(name, &mut self.payload, size(amount), ceiling.payload),
            "decision" => set(name, &mut self.decision, size(amount), ceiling.decision),
            "log_lines" => set(
                name,
                &mut self.log_lines,
                usize_count(amount),
                ceiling.log_lines,
            ),
            "metric_names" => set(
                name,
                &mut self.metric_names,
                usize_count(amount),
                ceiling.metric_names,
            ),
            "http_requests" => set(
                name,
                &mut self.http_requests,
                u32_count(amount),
                ceiling.http_requests,
            ),
            "request" => set(name, &mut self.request, size(amount), ceiling.request),
            "response" => set(name, &mut self.response, size(amount), ceiling.response),
            "log_bytes" => set(name, &mut self.log_bytes, size(amount), ceiling.log_bytes),
            _ => Err(LimitError::Unknown(name.to_owned())),
        }
    }
}

/// What is wrong with an entry of a `limits:` block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// There is no such limit.
    #[error("there is no limit called {0:?}")]
    Unknown(String),
    /// The amount cannot be read.
    #[error("limit {name}: {amount:?} is not {wanted}")]
    Malformed {
        /// The limit.
        name: String,
        /// What was written.
        amount: String,
        /// What is wanted instead, with an example.
        wanted: &'static str,
    },
    /// The amount is more than any hook may have.
    #[error("limit {name}: the most a hook may have is {ceiling}")]
    OverCeiling {
        /// The limit.
        name: String,
        /// The most there is.
        ceiling: String,
    },
}

/// A value, or what was written and what is wanted instead.
pub(crate) type Parsed<T> = Result<T, (String, &'static str)>;

fn set<T: PartialOrd + Copy + std::fmt::Debug>(
    name: &str,
    field: &mut T,
    parsed: Parsed<T>,
    ceiling: T,
) -> Result<(), LimitError> {
    let value = parsed.map_err(|(amount, wanted)| LimitError::Malformed {
        name: name.to_owned(),
        amount,
        wanted,
    })?;
    if value > ceiling {
        return Err(LimitError::OverCeiling {
            name: name.to_owned(),
            ceiling: written(name, format!("{ceiling:?}")),
        });
    }
    *field = value;
    Ok(())
}

/// Writes a ceiling the way a `limits:` block would.
fn written(name: &str, ceiling: String) -> String {
    match (name, ceiling.parse::<u64>()) {
        ("memory" | "payload" | "decision" | "log_bytes" | "request" | "response", Ok(bytes)) => {
            format!("{} MiB", bytes >> 20)
        }
        _ => ceiling,
    }
}

/// Splits `16 MiB` into its number and its unit.
fn split(amount: &str) -> Option<(u64, String)> {
    let amount = amount.trim();
    let end = amount
        .find(|c: char| !c.is_ascii_digit() && c != '_')
        .unwrap_or(amount.len());
    let number = amount[..end].replace('_', "").parse().ok()?;
    Some((number, amount[end..].trim().to_ascii_lowercase()))
}

pub(crate) fn count(amount: &str) -> Parsed<u64> {
    scaled(amount, |unit| match unit {
        "" => Some(1),
        "k" => Some(1_000),
        "m" => Some(1_000_000),
        "g" => Some(1_000_000_000),
        _ => None,
    })
    .ok_or((amount.to_owned(), "a whole number like 50_000_000 or 50M"))
}

fn usize_count(amount: &str) -> Parsed<usize> {
    count(amount).map(saturate)
}

fn u32_count(amount: &str) -> Parsed<u32> {
    count(amount).map(|value| u32::try_from(value).unwrap_or(u32::MAX))
}

pub(crate) fn size(amount: &str) -> Parsed<usize> {
    scaled(amount, |unit| match unit {
        "" | "b" => Some(1),
        "k" | "kb" | "kib" => Some(1 << 10),
        "m" | "mb" | "mib" => Some(1 << 20),
        "g" | "gb" | "gib" => Some(1 << 30),
        _ => None,
    })
    .map(saturate)
    .ok_or((amount.to_owned(), "a size like 512 KiB or 16 MiB"))
}

pub(crate) fn duration(amount: &str) -> Parsed<Duration> {
    scaled(amount, |unit| match unit {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" | "min" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        _ => None,
    })
    .map(Duration::from_millis)
    .ok_or((amount.to_owned(), "a time like 500ms, 2s or 1h"))
}

/// Reads a number with a unit; nothing for a zero, which would switch a hook off.
fn scaled(amount: &str, unit: fn(&str) -> Option<u64>) -> Option<u64> {
    let (number, name) = split(amount)?;
    number.checked_mul(unit(&name)?).filter(|&value| value > 0)
}

fn saturate(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_with_their_units() {
        let mut limits = Limits::default();
        for (name, amount) in [
            ("fuel", "50M"),
            ("memory", "16 MiB"),
            ("wall_time", "250ms"),
            ("host_calls", "1_000"),
        ] {
            limits.set(name, amount).unwrap();
        }
        assert_eq!(limits.fuel, 50_000_000);
        assert_eq!(limits.memory, 16 << 20);
        assert_eq!(limits.wall_time, Duration::from_millis(250));
        assert_eq!(limits.host_calls, 1_000);
    }

    #[test]
    fn every_name_can_be_set_and_nothing_goes_over_the_ceiling() {
        for name in Limits::NAMES {
            let mut limits = Limits::default();
            let amount = if name == "wall_time" { "2s" } else { "7" };
            limits.set(name, amount).unwrap();
            assert_ne!(limits, Limits::default(), "{name}");
            let much = if name == "wall_time" {
                "61s"
            } else {
                "99999999999999"
            };
            let error = limits.set(name, much).unwrap_err();
            assert!(matches!(error, LimitError::OverCeiling { .. }), "{error}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let mut limits = Limits::default();
        for amount in [
            "",
            "x",
            "-1",
            "0",
            "1.5",
            "3 parsecs",
            "99999999999999999999 g",
        ] {
            assert!(limits.set("fuel", amount).is_err(), "{amount}");
            assert!(limits.set("memory", amount).is_err(), "{amount}");
            assert!(limits.set("wall_time", amount).is_err(), "{amount}");
        }
        assert!(matches!(
            limits.set("feul", "1"),
            Err(LimitError::Unknown(_))
        ));
        assert_eq!(limits, Limits::default());
    }
}
