# make setup build demo test bench soak wheel: each does all that it needs, and nothing twice.
build:
	cmake --preset release && cmake --build --preset release
