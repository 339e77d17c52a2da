use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(condition = Condition::OwnerOnly)]
    ammo: u16,
}

fn main() {}
