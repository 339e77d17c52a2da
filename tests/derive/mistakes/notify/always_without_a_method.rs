use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(notify_always)]
    health: u16,
}

fn main() {}
