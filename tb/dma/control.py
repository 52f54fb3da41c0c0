"""The registers and tables of ``dma`` as a driver writes them."""
