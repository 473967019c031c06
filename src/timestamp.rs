//! Reads the times that agents write into payloads.

use std::time::Duration;

/// Above this, a number counts milliseconds: as seconds it would be after the year 5000.
const FIRST_MILLISECONDS: f64 = 1e11;

/// The latest time that is believed, in seconds since 1970: the end of the year 9999.
const LATEST: f64 = 253_402_300_799.0;

/// Reads seconds or milliseconds since 1970.
#[must_use]
pub(crate) fn from_number(number: f64) -> Option<Duration> {
    let seconds = if number >= FIRST_MILLISECONDS {
        number / 1e3
    } else {
        number
    };
    (0.0..=LATEST)
        .contains(&seconds)
        .then(|| Duration::from_secs_f64(seconds))
}

/// Reads a time as RFC 3339 has it, for example `2026-11-16T10:59:20.5+01:00`.
#[must_use]
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let at = rest.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = rest.split_at(at);
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(clock, ':')?;
    let valid = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !valid {
        return None;
    }
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
        - offset(zone)?;
    Some(Duration::new(
        u64::try_from(seconds).ok()?,
        nanoseconds(fraction)?,
    ))
}

fn numbers<const N: usize>(text: &str, separator: char) -> Option<[i64; N]> {
    let mut numbers = [0; N];
    let mut parts = text.split(separator);
    for number in &mut numbers {
        let part = parts.next()?;
        if part.len() < 2 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok().filter(|&number| number <= 9_999)?;
    }
    parts.next().is_none().then_some(numbers)
}

fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return (zone.len() == 1).then_some(0),
    };
    let [hours, minutes] = numbers(&zone[1..], ':')?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn nanoseconds(fraction: &str) -> Option<u32> {
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{fraction:0<9}").get(..9)?.parse().ok()
}

/// Counts days in years that begin in March, so that the leap day comes last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

/// Writes milliseconds since 1970 for people: the date and the time of day in UTC, the
/// same on every machine.
#[must_use]
pub(crate) fn written(milliseconds: u64) -> String {
    let (seconds, rest) = (milliseconds / 1_000, milliseconds % 1_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}.{rest:03}",
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

/// Returns the date that is some days after the first of 1970. The year begins in March
/// here, so that leap days come last.
fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_BEFORE_1970: u64 = 719_468;
    let days = days + DAYS_BEFORE_1970;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, turn) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + turn, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        for (text, seconds, nanoseconds) in [
            ("1970-01-01T00:00:00Z", 0, 0),
            ("2000-01-01T00:00:00Z", 946_684_800, 0),
            ("2000-02-29T23:59:59Z", 951_868_799, 0),
            ("2026-11-16T10:59:20.5+01:00", 1_794_823_160, 500_000_000),
            ("2026-11-16 09:59:20.000000001z", 1_794_823_160, 1),
            ("2026-11-16T05:29:20-04:30", 1_794_823_160, 0),
        ] {
            assert_eq!(
                parse(text),
                Some(Duration::new(seconds, nanoseconds)),
                "{text}"
            );
        }
        assert_eq!(from_number(1.5), Some(Duration::from_millis(1_500)));
        assert_eq!(
            from_number(1_794_823_160_250.0),
            Some(Duration::from_millis(1_794_823_160_250))
        );
    }

    #[test]
    fn nonsense_is_not_a_time() {
        for text in [
            "",
            "now",
            "2026-11-16",
            "2026-11-16T10:59:20",
            "2026-13-16T10:59:20Z",
            "2026-11-16T25:59:20Z",
            "1960-01-01T00:00:00Z",
            "2026-11-16T10:59:20.xZ",
            "2026-11-16T10:59:20+1",
            "2026-11-16T10:59:20Zulu",
            "99999-11-16T10:59:20Z",
            "2026-é1-16T10:59:20Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        for number in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            assert_eq!(from_number(number), None, "{number}");
        }
    }

    #[test]
    fn times_are_written_as_they_are_read() {
        for text in [
            "1970-01-01 00:00:00.000",
            "2000-02-29 23:59:59.999",
            "2026-11-16 10:59:20.500",
            "2100-03-01 00:00:01.001",
        ] {
            let read = parse(&format!("{text}Z")).unwrap();
            assert_eq!(written(u64::try_from(read.as_millis()).unwrap()), text);
        }
    }
}
