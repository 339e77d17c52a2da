use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(bits = 4.5)]
    value: u16,
}

fn main() {}
