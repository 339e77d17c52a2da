use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(notify = on_health)]
    health: u16,
}

fn main() {}
