use std::collections::BTreeMap;

use repl::Replicated;

#[derive(Replicated, Default)]
struct Folder {
    #[replicated]
    folders: BTreeMap<String, Folder>,
}

fn main() {}
