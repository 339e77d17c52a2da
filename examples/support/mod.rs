//! Code that the examples share: the parser of a probability, the progress bar and the exit code.

mod progress;

use std::error::Error;
use std::ops::RangeInclusive;
use std::process::ExitCode;

pub(crate) use progress::Progress;

/// Returns a parser for an argument that is a probability in `range`.
pub(crate) fn probability(
    range: RangeInclusive<f64>,
) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| match text.parse() {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => Err(format!("write a number from {} to {}", range.start(), range.end())),
    }
}

/// Returns the exit code of an example: 0 if all checks passed, 1 if one failed, 2 if the example could not
/// run. In the last case, also prints the error.
pub(crate) fn exit_code(example: &str, result: Result<bool, Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{example}: {error}");
            ExitCode::from(2)
        }
    }
}
