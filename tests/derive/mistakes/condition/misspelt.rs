use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = OwnerOly)]
    ammo: u16,
}

fn main() {}
