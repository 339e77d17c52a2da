use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    name: &'static str,
}

fn main() {}
