use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(atomic, bits = 4)]
    value: u16,
}

fn main() {}
