//! Vectors in space and small positive definite systems, of any [`Num`].

use crate::dual::Num;

pub type Vector<T> = [T; 3];
pub type Matrix<T, const N: usize> = [[T; N]; N];

pub fn add<T: Num>(x: Vector<T>, y: Vector<T>) -> Vector<T> {
    [x[0] + y[0], x[1] + y[1], x[2] + y[2]]
}

pub fn cross<T: Num>(x: Vector<T>, y: Vector<T>) -> Vector<T> {
    [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
}

/// Solve M x = b in place; M by its lower triangle, positive definite: M = L Lᵀ without pivoting.
pub fn cholesky_solve<T: Num, const N: usize>(mut m: Matrix<T, N>, b: &mut [T; N]) {
    for j in 0..N {
        for i in j..N {
            for k in 0..j {
                let product = m[i][k] * m[j][k];
                m[i][j] -= product;
            }
        }
        let root = m[j][j].sqrt();
        for row in &mut m[j..] {
            row[j] = row[j] / root;
        }
    }
    for i in 0..N {
        for k in 0..i {
            let product = m[i][k] * b[k];
            b[i] -= product;
        }
        b[i] = b[i] / m[i][i];
    }
    for i in (0..N).rev() {
        for k in i + 1..N {
            let product = m[k][i] * b[k];
            b[i] -= product;
        }
        b[i] = b[i] / m[i][i];
    }
}
