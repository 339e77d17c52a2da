//! All rows with all libraries, as a table.

use std::io::{self, Write};
use std::process::Command;

use crate::measurement::{Measurement, NUMBERS};
use crate::peers::{NAMES, NOTHING};
use crate::row::Row;

const CLIENTS: [usize; 3] = [1, 8, 32];
/// How often each row is measured. The libraries take turns.
const ROUNDS: usize = 3;

/// Measures everything and prints the table. Prints each line as soon as its row is measured.
pub(crate) fn print() -> Result<(), String> {
    let mut out = io::stdout();
    let head = "| in a tick | clients | library | µs | bytes | server MB | client MB | process MB | behind | \
                join ms | join bytes | join ticks | verified |";
    let rule = "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|";
    write_line(&mut out, head)?;
    write_line(&mut out, rule)?;
    for row in Row::EACH {
        for clients in CLIENTS {
            let cases: Vec<_> = NAMES.iter().map(|&name| (name, clients)).chain([(NOTHING, 0)]).collect();
            let mut runs = vec![Vec::new(); cases.len()];
            for round in 0..ROUNDS {
                for turn in 0..cases.len() {
                    let case = (turn + round) % cases.len();
                    let (name, clients) = cases[case];
                    runs[case].push(apart(name, row, clients)?);
                }
            }
            let medians: Vec<_> = runs.iter().map(|runs| median(runs)).collect();
            let Some((nothing, libraries)) = medians.split_last() else { continue };
            for (name, measured) in NAMES.iter().zip(libraries) {
                write_line(&mut out, &line(row, clients, name, measured, nothing))?;
            }
        }
    }
    Ok(())
}

fn write_line(out: &mut impl Write, line: &str) -> Result<(), String> {
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| error.to_string())
}

/// Measures a row in a separate process.
fn apart(name: &str, row: Row, clients: usize) -> Result<Measurement, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args([name, row.name(), &clients.to_string()]);
    let output = command.output().map_err(|error| error.to_string())?;
    let failed = || {
        let told = String::from_utf8_lossy(&output.stderr);
        let last = told.lines().next_back().unwrap_or_default().to_string();
        Measurement::from_numbers([f64::NAN; NUMBERS], Some(format!("the process failed: {last}")))
    };
    Ok(Measurement::read(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(failed))
}

/// Returns the median of each number. Reports a difference if any run has one.
fn median(runs: &[Measurement]) -> Measurement {
    let mut numbers = [0.0; NUMBERS];
    for (at, median) in numbers.iter_mut().enumerate() {
        let mut of_runs: Vec<f64> = runs.iter().map(|run| run.numbers()[at]).collect();
        of_runs.sort_by(f64::total_cmp);
        *median = of_runs[of_runs.len() / 2];
    }
    let difference = runs.iter().find_map(|run| run.difference.clone());
    Measurement::from_numbers(numbers, difference)
}

fn line(row: Row, clients: usize, name: &str, measured: &Measurement, nothing: &Measurement) -> String {
    let mega = |bytes: f64| bytes / 1e6;
    let verified =
        measured.difference.as_ref().map_or_else(|| "yes".into(), |why| format!("not verified: {why}"));
    format!(
        "| {} | {clients} | {name} | {:.0} | {:.0} | {:.2} | {:.2} | {:.0} | {:.0} | {:.1} | {:.0} | {:.0} | {verified} |",
        row.title(),
        measured.micros - nothing.micros,
        measured.bytes,
        mega(measured.heap - nothing.heap),
        mega(measured.client_heap),
        mega(measured.resident),
        measured.late_ticks,
        (measured.join_micros - nothing.join_micros) / 1e3,
        measured.join_bytes,
        measured.join_ticks,
    )
}
