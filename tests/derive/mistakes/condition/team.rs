use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = TeamOnly)]
    ammo: u16,
}

fn main() {}
