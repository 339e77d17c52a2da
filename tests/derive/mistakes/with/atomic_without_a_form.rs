use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(atomic)]
    weapon: Weapon,
}

#[derive(Clone, Default)]
struct Weapon;

fn main() {}
