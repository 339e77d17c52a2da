mod text {
    use repl::Interpolate;

    #[derive(Interpolate)]
    struct Sign {
        text: String,
        height: f32,
    }
}

fn main() {}
