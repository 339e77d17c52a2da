use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(OwnerOnyl)]
    ammo: u16,
}

fn main() {}
