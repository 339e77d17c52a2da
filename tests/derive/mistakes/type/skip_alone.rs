use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    health: u16,
    #[replicated(skip)]
    cooldown: f32,
}

fn main() {}
