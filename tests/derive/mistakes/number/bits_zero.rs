use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(bits = 0)]
    value: u16,
}

fn main() {}
