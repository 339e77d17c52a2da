use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(push condition = OwnerOnly)]
    ammo: u16,
}

fn main() {}
