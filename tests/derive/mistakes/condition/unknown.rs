use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = Sometimes)]
    ammo: u16,
}

fn main() {}
