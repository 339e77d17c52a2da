use repl::Replicated;

#[derive(Replicated, Default)]
enum Stance {
    #[default]
    Idle,
    Run,
}

fn main() {}
