import numpy as np

def main():
    print(np.arange(3).sum())

if __name__ == "__main__":
    main()
