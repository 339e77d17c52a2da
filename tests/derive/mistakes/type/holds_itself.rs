use repl::Replicated;

#[derive(Replicated, Default)]
struct Folder {
    #[replicated]
    folders: Vec<Folder>,
}

fn main() {}
