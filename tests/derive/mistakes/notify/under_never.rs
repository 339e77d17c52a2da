use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = Never, notify = on_health)]
    health: u16,
}

fn main() {}
