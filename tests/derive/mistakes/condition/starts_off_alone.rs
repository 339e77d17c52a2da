use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(starts_off)]
    value: u16,
}

fn main() {}
