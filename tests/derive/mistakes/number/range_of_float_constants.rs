use repl::Replicated;

const MOST: f32 = 9.75;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(range = 0..=MOST)]
    speed: u8,
}

fn main() {}
