//! The output: the scenes as they run, progress, and a table or a line of JSON at the end.
//!
//! *Invariant:* the last line of a run with `--json` is one JSON object; progress goes to the standard error.
#![expect(clippy::print_stdout, reason = "the example's output")]

use crate::bags::{Bags, Bits};
use crate::dealer::Scene;
use crate::journal::Entry;

/// The greatest number of callbacks that are printed for a scene.
const SHOWN: usize = 6;
const BAR: u64 = 60;

/// Prints the callbacks of a scene, and the bytes that it cost.
pub(crate) fn print_scene(title: &str, code: &str, told: &[Entry], cost: Bits) {
    println!("\n{title}\n    {code}");
    let mut lines: Vec<_> = told.iter().map(ToString::to_string).collect();
    if lines.is_empty() {
        lines.push("(the client is told nothing)".to_owned());
    }
    for line in lines.iter().take(SHOWN) {
        println!("        {line}");
    }
    if lines.len() > SHOWN {
        println!("        and {} more", lines.len() - SHOWN);
    }
    let (fast, plain) = cost.bytes();
    println!("    {fast} bytes; {plain} in a Vec");
}

/// Prints the costs of all scenes: the fast array above the `Vec`.
pub(crate) fn print_scenes(scenes: &[(&Scene, Bits)]) {
    println!("\n{:<36} {:>9}  █ FastArray  ▒ Vec", "scene", "bytes");
    let longest = scenes.iter().map(|(_, cost)| cost.fast.max(cost.plain)).max().unwrap_or(1);
    for (scene, cost) in scenes {
        print_bars(scene.title, *cost, longest);
    }
}

fn print_bars(title: &str, cost: Bits, longest: u64) {
    let (fast, plain) = cost.bytes();
    print_bar(title, fast, "█", longest.div_ceil(8));
    print_bar("", plain, "▒", longest.div_ceil(8));
}

fn print_bar(title: &str, bytes: u64, block: &str, longest: u64) {
    let bar = block.repeat((bytes * BAR).div_ceil(longest.max(1)) as usize);
    println!("{}", format!("{title:<36} {bytes:>9}  {bar}").trim_end());
}

/// Returns the text next to the progress bar during the random updates.
pub(crate) fn progress(bags: &Bags, before: Bits) -> String {
    let (fast, plain) = bags.bits().since(before).bytes();
    format!(
        "{} stacks, {} packets lost, {fast} bytes; {plain} in a Vec",
        bags.fast.live().stacks.len(),
        bags.fast.lost() + bags.plain.lost(),
    )
}

/// The outcome of a run.
pub(crate) struct Outcome {
    pub(crate) converged: bool,
    pub(crate) callbacks_ok: bool,
    pub(crate) updates: u32,
    /// The cost of the random updates.
    pub(crate) cost: Bits,
}

impl Outcome {
    /// Prints the outcome in words.
    pub(crate) fn print(&self, bags: &Bags) {
        let title = format!("{} random updates", self.updates);
        println!("\n{:<36} {:>9}", "over a network that loses packets", "bytes");
        print_bars(&title, self.cost, self.cost.fast.max(self.cost.plain));
        println!("\n{:<36} {:>9} {:>9}", "in all, story included", "FastArray", "Vec");
        let (fast, plain) = (bags.fast.stats(), bags.plain.stats());
        println!("{:<36} {:>9} {:>9}", "bytes in packets", fast.bytes_sent, plain.bytes_sent);
        println!("{:<36} {:>9} {:>9}", "packets", fast.packets_sent, plain.packets_sent);
        println!("{:<36} {:>9} {:>9}", "packets lost, both ways", bags.fast.lost(), bags.plain.lost());
        println!(
            "\n{} calls, from which a model made the inventory that the client holds",
            bags.model.entries
        );
        match bags.trouble() {
            None if self.converged => println!("both clients hold what their servers hold, and no price"),
            None => println!("the clients do NOT hold what their servers hold"),
            Some(trouble) => println!("NOT well: {trouble}"),
        }
    }

    /// Prints the outcome as one line of JSON.
    pub(crate) fn print_json(&self) {
        let (fast, plain) = self.cost.bytes();
        println!(
            "{{\"converged\":{},\"updates\":{},\"fastarray_bytes\":{fast},\"vec_bytes\":{plain},\"callbacks_ok\":{}}}",
            self.converged, self.updates, self.callbacks_ok
        );
    }
}
