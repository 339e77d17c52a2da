use repl::Interpolate;

#[derive(Interpolate)]
enum Stance {
    Standing,
    Lying,
}

fn main() {}
