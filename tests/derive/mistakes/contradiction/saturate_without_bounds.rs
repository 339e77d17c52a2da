use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(saturate)]
    value: u16,
}

fn main() {}
