//! Parses durations, numbers and shares: `500ms 10s 2m 1h`, `10k 1M`, `0.1%`.

use std::time::Duration;

use crate::figures::histogram::LONGEST;

const DURATION_UNITS: [(&str, f64); 6] = [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Parses `500ms`, `10s`, `2m` or `1h`. A bare number means seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits_end);
    let value: f64 = number.parse().map_err(|_| format!("`{text}` is not a duration; write 500ms, 10s, 2m or 1h"))?;
    let unit = if unit.is_empty() { "s" } else { unit };
    let Some((_, scale)) = DURATION_UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("`{unit}` is not a unit of time; use ns, us, ms, s, m or h"));
    };
    let seconds = value * scale;
    if seconds > LONGEST.as_secs_f64() {
        return Err(format!("`{text}` is longer than 24 hours"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Parses a duration greater than zero.
pub fn parse_positive_duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text)? {
        Duration::ZERO => Err("must be above zero".to_owned()),
        duration => Ok(duration),
    }
}

/// Parses `250`, `10k`, `2.5k` or `1M`.
pub fn parse_number(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1e3),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1e6),
        _ => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value * scale),
        _ => Err(format!("`{text}` is not a number; write 250, 10k or 1M")),
    }
}

/// Parses an integer of at least 1, such as `64` or `10k`.
pub fn parse_count(text: &str) -> Result<u32, String> {
    let value = parse_number(text)?;
    if value.fract() != 0.0 || !(1.0..=f64::from(u32::MAX)).contains(&value) {
        return Err(format!("`{text}` is not a whole number of at least 1"));
    }
    Ok(value as u32)
}

/// Parses the number of requests of a run.
pub fn parse_requests(text: &str) -> Result<u64, String> {
    match parse_count(text) {
        Ok(count) => Ok(u64::from(count)),
        Err(problem) if text.contains(['.', '/']) => Err(format!("{problem}; a file of requests is --mix FILE")),
        Err(problem) => Err(problem),
    }
}

/// Parses `0.1%` or `0.001`.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    match number.parse::<f64>().map(|value| value / scale) {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("`{text}` is not a share; write 0.1% or 0.001")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_durations() {
        for (text, expected) in
            [("500ms", 500_000), ("10s", 10_000_000), ("2m", 120_000_000), ("1.5s", 1_500_000), ("3", 3_000_000), ("40us", 40)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_micros(expected)), "{text}");
        }
        for text in ["", "s", "10 s", "-1s", "10parsecs", "1e99s", "25h", "1.2.3s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert!(parse_positive_duration("0s").is_err());
    }

    #[test]
    fn parses_numbers_with_suffixes() {
        for (text, expected) in [("250", 250.0), ("10k", 10_000.0), ("2.5k", 2_500.0), ("1M", 1e6), ("1m", 1e6)] {
            assert_eq!(parse_number(text), Ok(expected), "{text}");
        }
        for text in ["", "k", "-1", "NaN", "inf", "1G"] {
            assert!(parse_number(text).is_err(), "{text}");
        }
        assert_eq!(parse_count("10k"), Ok(10_000));
        assert!(parse_count("0").is_err());
        assert!(parse_count("1.5").is_err());
    }

    #[test]
    fn parses_shares() {
        assert_eq!(parse_share("50%"), Ok(0.5));
        assert_eq!(parse_share("0.25"), Ok(0.25));
        for bad in ["", "%", "101%", "-1%", "NaN", "x"] {
            assert!(parse_share(bad).is_err(), "{bad}");
        }
    }
}
