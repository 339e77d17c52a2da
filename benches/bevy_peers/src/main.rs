//! The cost of replicating the same entities with `repl-bevy`, with `bevy_replicon` and with `lightyear`.
//!
//! Without arguments, the program measures all rows, each in its own process, and prints a table. With three
//! arguments (library, row and number of clients), it measures one row once.

mod account;
#[allow(dead_code, reason = "other benches use the other parts")]
#[path = "../../../tests/support/allocator.rs"]
mod allocator;
#[path = "../../support/cpu.rs"]
mod cpu;
mod measurement;
mod peer;
mod peers;
mod row;
mod table;
mod verdict;
mod workload;

use std::process::ExitCode;

use measurement::Measurement;
use row::Row;

#[global_allocator]
static ALLOCATOR: allocator::Counting = allocator::Counting;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [] => table::print(),
        [library, row, clients] => one(library, row, clients),
        _ => Err("give nothing, or the names of a library and of a row and the number of clients".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

/// Measures one row once, and prints it in one line.
fn one(library: &str, row: &str, clients: &str) -> Result<(), String> {
    let row = Row::named(row).ok_or(format!("there is no row {row}"))?;
    let clients = clients.parse().map_err(|_| format!("{clients} is no number of clients"))?;
    let measure = peers::named(library).ok_or(format!("there is no library {library}"))?;
    let measured: Measurement = measure(row, clients);
    println!("{measured}");
    Ok(())
}
