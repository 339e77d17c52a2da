use repl::Replicated;

#[derive(Replicated, Default)]
struct Folder {
    #[replicated]
    files: Vec<File>,
}

#[derive(Replicated, Default)]
struct File {
    #[replicated]
    folder: Option<Folder>,
}

fn main() {}
