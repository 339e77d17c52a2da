use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = Never, push)]
    value: u16,
}

fn main() {}
