use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    health: u16,
    #[replicated(name = "health")]
    hit_points: u16,
}

fn main() {}
